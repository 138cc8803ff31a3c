import { Graph, layout } from '@dagrejs/dagre';

export interface LayoutRequest {
  id: number;
  nodes: readonly { id: string; width: number; height: number }[];
  edges: readonly { from: string; to: string; lit: boolean; merged: boolean }[];
}

export interface LayoutAnswer {
  id: number;
  places: Record<string, { x: number; y: number }>;
}

/** From left to right, parents before children. Upper left corners. */
export function arrange({ id, nodes, edges }: LayoutRequest): LayoutAnswer {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 52, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, { width: node.width, height: node.height });
  const ranks = ranksOf(edges);
  // By first parents, a tree stays easy to read; the ranks keep the other parents to the left too.
  for (const { from, to, lit, merged } of edges)
    if (!merged)
      graph.setEdge(from, to, {
        weight: lit ? 24 : 1,
        minlen: Math.max(1, (ranks.get(to) ?? 1) - (ranks.get(from) ?? 0)),
      });
  layout(graph);
  const places: LayoutAnswer['places'] = {};
  for (const node of nodes) {
    const at = graph.node(node.id) as { x: number; y: number };
    places[node.id] = { x: at.x - node.width / 2, y: at.y - node.height / 2 };
  }
  return { id, places };
}

/** How many steps the longest way to each node has. */
export function ranksOf(edges: LayoutRequest['edges']): Map<string, number> {
  const below = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const { from, to } of edges) {
    const there = below.get(from);
    if (there) there.push(to);
    else below.set(from, [to]);
    open.set(to, (open.get(to) ?? 0) + 1);
  }
  const ranks = new Map<string, number>();
  const waiting = [...below.keys()].filter((id) => !open.has(id));
  waiting.forEach((id) => ranks.set(id, 0));
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
    for (const child of below.get(id) ?? []) {
      ranks.set(child, Math.max(ranks.get(child) ?? 0, (ranks.get(id) ?? 0) + 1));
      const left = (open.get(child) ?? 0) - 1;
      open.set(child, left);
      if (left === 0) waiting.push(child);
    }
  return ranks;
}
