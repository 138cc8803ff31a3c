import { traceTree, type TraceNode } from './trace';

/** How the agent got there, step by step. */
export function TraceView({ trace }: { trace: unknown }) {
  const nodes = traceTree(trace);
  if (nodes.length === 0) return null;
  return (
    <details className="configuration-part">
      <summary className="configuration-head">
        Trace{' '}
        <span className="muted small">
          {nodes.length === 1 ? '1 step' : `${nodes.length} steps`}
        </span>
      </summary>
      <div className="candidate-trace">
        <Nodes nodes={nodes} open />
      </div>
    </details>
  );
}

function Nodes({ nodes, open = false }: { nodes: readonly TraceNode[]; open?: boolean }) {
  return (
    <ul>
      {nodes.map((node, index) => (
        <li key={index}>
          {node.children.length > 0 ? (
            <details open={open}>
              <summary>
                <strong>{node.label}</strong> <span className="muted small">{node.hint}</span>
              </summary>
              <Nodes nodes={node.children} />
            </details>
          ) : (
            <div className="candidate-leaf">
              <strong>{node.label}</strong>
              {node.text === null ? (
                <span className="muted small">{node.hint || 'nothing'}</span>
              ) : (
                <pre>{node.text}</pre>
              )}
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
