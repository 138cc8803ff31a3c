import { MiniMap, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { useEffect, useEffectEvent, useMemo, useRef, type KeyboardEvent } from 'react';
import '@xyflow/react/dist/style.css';
import { LOOKED_AT, ZoomPanel } from '@/components/graph/View';
import { WAYS } from '@/components/graph/keys';
import { lineOf, type History } from './history';
import { nextCommit, NODE, usePlaces, type PlacedHistory } from './places';
import { NODE_TYPES, RunFromContext, type CommitNode } from './CommitNode';
import { counted } from '../../../lib/format';

interface GraphProps {
  history: History;
  current: string | null;
  /** The one that another is to be compared with. */
  marked: string | null;
  onCurrent(id: string | null): void;
  onRun(id: string): void;
}

const CLOSEST = 1;
const READABLE = 0.45;
const MANY = 40;

/** Which picture was made from which, from left to right. */
export function HistoryGraph(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Graph {...props} />
    </ReactFlowProvider>
  );
}

function Graph(props: GraphProps) {
  const { history, current, onCurrent, onRun } = props;
  const placed = usePlaces(history);
  const flow = useReactFlow();
  const nodes = useNodes(placed, props);
  const edges = useEdges(placed, current);
  const newest = history.commits.keys().next().value ?? null;
  useFirstView(placed, current ?? newest, current !== null);
  const goTo = (id: string | null) => {
    onCurrent(id);
    const place = id === null ? undefined : placed?.places[id];
    if (place)
      void flow.setCenter(place.x + NODE.width / 2, place.y + NODE.height / 2, {
        zoom: Math.max(flow.getZoom(), 0.6),
      });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!placed || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = WAYS[event.key];
    if (way) goTo(nextCommit(placed, current, way));
    else if ((event.key === 'e' || event.key === 'Enter') && current !== null) onRun(current);
    else if (event.key === '+' || event.key === '=') void flow.zoomIn();
    else if (event.key === '-') void flow.zoomOut();
    else if (event.key === 'f') void flow.fitView({ maxZoom: CLOSEST });
    else if (event.key === 'b' && history.best !== null) goTo(history.best);
    else if (event.key === 'Escape' && current !== null) onCurrent(null);
    else return;
    event.preventDefault();
  };
  return (
    <RunFromContext value={onRun}>
      <ReactFlow
        className="lineage-flow history-flow"
        aria-label={`History of ${counted(history.commits.size, 'commit')}. Arrow keys move, e runs an eval from the chosen one, f fits, b goes to the best.`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        data-nodes={nodes.length}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        minZoom={0.05}
        maxZoom={1.6}
        {...LOOKED_AT}
        onNodeClick={(_, node) => onCurrent(node.id)}
        onPaneClick={() => onCurrent(null)}
      >
        <ZoomPanel
          closest={CLOSEST}
          onBest={history.best !== null ? () => goTo(history.best) : null}
        />
        {nodes.length > MANY && (
          <MiniMap className="lineage-map wide-only" pannable ariaLabel="Overview of the history" />
        )}
      </ReactFlow>
    </RunFromContext>
  );
}

function useNodes(placed: PlacedHistory | null, { current, marked }: GraphProps): CommitNode[] {
  return useMemo(() => {
    if (!placed) return [];
    const { graph: history, places } = placed;
    const line = lineOf(history, current);
    return [...history.commits.values()].flatMap((commit): CommitNode[] => {
      const id = commit.commit_id;
      const position = places[id];
      if (!position) return [];
      const data = {
        commit,
        best: id === history.best,
        lit: line.has(id),
        current: id === current,
        marked: id === marked,
      };
      return [{ id, type: 'commit', position, ...NODE, data }];
    });
  }, [placed, current, marked]);
}

function useEdges(placed: PlacedHistory | null, current: string | null) {
  return useMemo(() => {
    if (!placed) return [];
    const line = lineOf(placed.graph, current);
    return placed.graph.edges.map(({ from, to }) => ({
      id: `${from}-${to}`,
      source: from,
      target: to,
      className: line.has(to) ? 'lit' : '',
      zIndex: line.has(to) ? 1 : 0,
    }));
  }, [placed, current]);
}

/** At first the whole, or one commit where the whole could not be read; then it stays as it is. */
function useFirstView(placed: PlacedHistory | null, focus: string | null, beside: boolean): void {
  const flow = useReactFlow();
  const done = useRef(false);
  const settle = useEffectEvent(() => {
    if (done.current) return;
    done.current = true;
    const place = focus === null ? undefined : placed?.places[focus];
    if (place && (placed?.graph.commits.size ?? 0) > MANY) {
      // Not the whole first: so many pictures take seconds, and are specks.
      void flow.setCenter(place.x + NODE.width / 2, place.y + NODE.height / 2, { zoom: 0.7 });
      return;
    }
    // What is chosen stands beside the graph, where there is room for it.
    const right = beside && window.innerWidth > 760 ? ('350px' as const) : '4%';
    const padding = { top: '4%', bottom: '4%', left: '4%', right } as const;
    void flow.fitView({ maxZoom: CLOSEST, padding }).then(() => {
      if (flow.getZoom() >= READABLE || focus === null) return;
      void flow.fitView({ nodes: [{ id: focus }], maxZoom: 0.7, padding: 1 });
    });
  });
  useEffect(() => {
    if (!placed || placed.graph.commits.size === 0) return;
    // The nodes have to be there before a view can be fitted to them.
    const frame = requestAnimationFrame(() => settle());
    return () => cancelAnimationFrame(frame);
  }, [placed]);
}
