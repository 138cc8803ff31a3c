import { MiniMap, ReactFlow, ReactFlowProvider, useReactFlow, type Edge } from '@xyflow/react';
import { useEffect, useEffectEvent, useMemo, useRef, type KeyboardEvent } from 'react';
import '@xyflow/react/dist/style.css';
import { LOOKED_AT, ZoomPanel } from '@/components/graph/View';
import { WAYS } from '@/components/graph/keys';
import type { PointSet } from '../points';
import { shareOf, type Shown } from './family';
import { ActsContext, NODE_TYPES, scaleColour, type Acts, type GraphNode } from './Nodes';
import { move, SIZES, useArranged, type Arranged } from './places';

interface GraphProps {
  shown: Shown;
  set: PointSet;
  path: ReadonlySet<number>;
  range: readonly [number, number];
  best: number | null;
  current: string | null;
  label: string;
  acts: Acts;
  onCurrent(id: string | null): void;
  onOpen(number: number): void;
}

const NOT_TOO_CLOSE = 1.1;
const READABLE = 0.5;
const LAST_STEPS = 4;
/** From so many nodes on there is a map of them. */
const MANY = 60;

export function LineageGraph(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Graph {...props} />
    </ReactFlowProvider>
  );
}

function Graph(props: GraphProps) {
  const { shown, best, current, acts, onCurrent } = props;
  const { arranged, busy } = useArranged(shown);
  const flow = useReactFlow();
  const nodes = useNodes(arranged, props);
  const edges = useEdges(arranged);
  useSteadyView(arranged, props);

  const goTo = (id: string) => {
    onCurrent(id);
    const place = arranged?.places[id];
    if (place)
      void flow.setCenter(place.x + 74, place.y + 22, { zoom: Math.max(flow.getZoom(), 0.6) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!arranged || event.ctrlKey || event.metaKey || event.altKey) return;
    const node = arranged.graph.nodes.find((one) => one.id === current);
    const way = WAYS[event.key];
    if (way) goTo(move(arranged, current ?? String(best ?? 0), current === null ? null : way));
    else if (event.key === 'Enter' && node?.kind === 'bundle') acts.open(node.number);
    else if (event.key === 'Enter' && node?.number != null) props.onOpen(node.number);
    else if (event.key === ' ' && node?.number != null) {
      if (node.kind === 'candidate' && node.folds) acts.fold(node.number);
      else acts.open(node.number);
    } else if (event.key === '+' || event.key === '=') void flow.zoomIn();
    else if (event.key === '-') void flow.zoomOut();
    else if (event.key === 'f') void flow.fitView({ maxZoom: NOT_TOO_CLOSE });
    else if (event.key === 'b' && best !== null) goTo(String(best));
    else if (event.key === 'Escape' && current !== null) onCurrent(null);
    else return;
    event.preventDefault();
  };

  return (
    <ActsContext value={acts}>
      <ReactFlow
        className="lineage-flow"
        aria-label={props.label}
        tabIndex={0}
        onKeyDown={onKeyDown}
        data-nodes={nodes.length}
        data-busy={busy}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        minZoom={0.05}
        maxZoom={2}
        {...LOOKED_AT}
        onNodeClick={(_, node) => {
          if (node.type === 'candidate') onCurrent(node.id);
        }}
        onPaneClick={() => onCurrent(null)}
      >
        <ZoomPanel closest={NOT_TOO_CLOSE} onBest={best !== null ? () => goTo(String(best)) : null}>
          {busy && <span className="badge">Arranging…</span>}
        </ZoomPanel>
        {nodes.length > MANY && (
          <MiniMap
            className="lineage-map wide-only"
            pannable
            ariaLabel="Overview of the lineage"
            nodeColor={colourOf}
            nodeStrokeWidth={0}
          />
        )}
      </ReactFlow>
    </ActsContext>
  );
}

function colourOf(node: GraphNode): string {
  if (node.type !== 'candidate') return 'var(--surface-3)';
  if (node.data.best) return 'var(--chart-line)';
  return node.data.share === null ? 'var(--chart-muted)' : scaleColour(node.data.share);
}

function useNodes(arranged: Arranged | null, { set, path, range, best, current }: GraphProps) {
  const plain = useMemo(() => {
    if (!arranged) return [];
    return arranged.graph.nodes.flatMap((node): GraphNode[] => {
      const position = arranged.places[node.id];
      if (!position) return [];
      const common = { id: node.id, position, ...SIZES[node.kind] };
      if (node.kind === 'bundle')
        return [
          {
            ...common,
            type: 'bundle',
            data: { number: node.number, hidden: node.hidden, current: false },
          },
        ];
      const number = node.number ?? 0;
      const point = set.byNumber.get(number);
      if (!point) return [];
      const share = point.kind === 'mini-batch' ? null : shareOf(point.score, range[0], range[1]);
      return [
        {
          ...common,
          type: 'candidate',
          data: {
            point,
            share,
            best: number === best,
            lit: path.has(number),
            folds: node.folds,
            current: false,
          },
        },
      ];
    });
  }, [arranged, set, path, range, best]);
  // Only the one that is looked at changes: the others stay the same objects and are not drawn anew.
  return useMemo(
    () =>
      plain.map((node): GraphNode => {
        if (node.id !== current) return node;
        return node.type === 'bundle'
          ? { ...node, data: { ...node.data, current: true } }
          : { ...node, data: { ...node.data, current: true } };
      }),
    [plain, current],
  );
}

function useEdges(arranged: Arranged | null): Edge[] {
  return useMemo(
    () =>
      (arranged?.graph.edges ?? []).map((edge) => ({
        id: edge.id,
        source: edge.from,
        target: edge.to,
        className: `${edge.lit ? 'lit' : edge.merged ? 'merged' : ''} ${edge.between > 0 ? 'far' : ''}`,
        zIndex: edge.lit ? 1 : 0,
        label: edge.between > 0 ? `${edge.between} between` : undefined,
      })),
    [arranged],
  );
}

/** At first the whole or the best; afterwards what one looks at stays where it is. */
function useSteadyView(arranged: Arranged | null, { best, current, path }: GraphProps) {
  const flow = useReactFlow();
  const before = useRef<Arranged | null>(null);
  const settle = useEffectEvent((now: Arranged) => {
    const old = before.current;
    before.current = now;
    const anchor = current ?? String(best ?? 0);
    const place = now.places[anchor];
    if (!old) {
      void flow.fitView({ maxZoom: NOT_TOO_CLOSE, padding: 0.06 }).then(() => {
        // What could not be read as a whole begins with the last steps to the best.
        if (flow.getZoom() >= READABLE) return;
        const last = [...path].sort((one, other) => other - one).slice(0, LAST_STEPS);
        void flow.fitView({
          nodes: last.map((number) => ({ id: String(number) })),
          minZoom: READABLE,
          maxZoom: 0.85,
          padding: 0.3,
        });
      });
      return;
    }
    const was = old.places[anchor];
    if (!place || !was) return;
    const view = flow.getViewport();
    void flow.setViewport({
      zoom: view.zoom,
      x: view.x - (place.x - was.x) * view.zoom,
      y: view.y - (place.y - was.y) * view.zoom,
    });
  });
  useEffect(() => {
    if (!arranged) return;
    // The nodes have to be there before a view can be fitted to them.
    const frame = requestAnimationFrame(() => settle(arranged));
    return () => cancelAnimationFrame(frame);
  }, [arranged]);
}
