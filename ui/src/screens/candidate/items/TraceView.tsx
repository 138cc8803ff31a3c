import { TranscriptDiff, TranscriptView } from '@/components/trajectory/Transcript';
import { jsonText } from '@/lib/configurations';
import { failingSteps, transcriptOf } from '@/lib/transcripts';
import { counted } from '../../../lib/format';

interface Run {
  output: { trace?: unknown } | null;
  scores: readonly { step?: number | null; reason?: string; name: string }[];
}

/** How the agent got there: its transcript, against another's where that is given, and its trace. */
export function RunTrace({ run, against }: { run: Run; against?: Run | undefined }) {
  const trace = run.output?.trace;
  const transcript = transcriptOf(trace);
  if (transcript === null) return <TraceView trace={trace} />;
  const other = against ? transcriptOf(against.output?.trace) : null;
  return (
    <>
      {other ? (
        <TranscriptDiff before={other} after={transcript} />
      ) : (
        <TranscriptView transcript={transcript} failing={failingSteps(run.scores)} />
      )}
      <TraceView trace={transcript.rest} />
    </>
  );
}

/** Whatever an agent left as its trace, step by step. */
function TraceView({ trace }: { trace: unknown }) {
  const nodes = traceTree(trace);
  if (nodes.length === 0) return null;
  return (
    <details className="configuration-part">
      <summary className="configuration-head">
        Trace <span className="muted small">{counted(nodes.length, 'step')}</span>
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

/** A step of a trace: its name, what it is in short, and the steps or fields below it. */
interface TraceNode {
  label: string;
  hint: string;
  /** Of a leaf; null where there are children. */
  text: string | null;
  children: TraceNode[];
}

const NAMES = ['name', 'step', 'tool', 'title', 'role', 'type', 'kind', 'event'] as const;
/** Deeper than this it is shown as formatted JSON: nobody opens twelve levels by hand. */
const DEEPEST = 6;
const MOST = 200;
const HINT = 90;

/** Whatever an agent left as its trace, as a tree that can be read. */
export function traceTree(trace: unknown): TraceNode[] {
  if (trace === null || trace === undefined) return [];
  if (typeof trace !== 'object') return [leaf('Trace', trace)];
  return children(trace, 0);
}

function children(value: object, depth: number): TraceNode[] {
  if (Array.isArray(value)) {
    const shown = value.slice(0, MOST).map((one, index) => step(one, index, depth));
    const left = value.length - shown.length;
    if (left > 0) shown.push(leaf(`${left} more`, jsonText(value.slice(MOST))));
    return shown;
  }
  return Object.entries(value).map(([name, one]) => node(name, one, depth));
}

function step(value: unknown, index: number, depth: number): TraceNode {
  const label = `${index + 1}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return node(label, value, depth);
  const fields = value as Record<string, unknown>;
  const named = NAMES.find((name) => typeof fields[name] === 'string' && fields[name] !== '');
  if (named === undefined) return node(label, value, depth);
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== named));
  return node(`${label}. ${String(fields[named])}`, rest, depth);
}

function node(label: string, value: unknown, depth: number): TraceNode {
  if (typeof value !== 'object' || value === null) return leaf(label, value);
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (size === 0)
    return { label, hint: Array.isArray(value) ? 'empty list' : '', text: null, children: [] };
  if (depth >= DEEPEST) return leaf(label, value);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string' && one.length < 200))
    // Short texts read best below each other.
    return { label, hint: hintOf(value), text: value.join('\n'), children: [] };
  return { label, hint: hintOf(value), text: null, children: children(value, depth + 1) };
}

function leaf(label: string, value: unknown): TraceNode {
  return { label, hint: '', text: jsonText(value), children: [] };
}

function hintOf(value: object): string {
  if (Array.isArray(value)) return counted(value.length, 'entry', 'entries');
  const short = Object.entries(value)
    .filter(([, one]) => typeof one !== 'object' || one === null)
    .map(([name, one]) => `${name}: ${String(one).replace(/\s+/g, ' ')}`)
    .join(', ');
  return short.length > HINT ? `${short.slice(0, HINT - 1)}…` : short;
}
