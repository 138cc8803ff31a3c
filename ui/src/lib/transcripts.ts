import { diffArrays } from 'diff';

/** One tool call of a step, with what came back. */
export interface Call {
  name: string;
  arguments: unknown;
  /** null where nothing came back. */
  result: string | null;
  failed: boolean;
}

/** One message of a run. Those of the assistant are its steps, numbered from 1. */
export interface Entry {
  role: string;
  /** Of the assistant; 0 for all others. */
  step: number;
  text: string;
  calls: Call[];
  /** The sub-agent whose message it is. */
  agent: string;
}

export interface Transcript {
  entries: Entry[];
  ended: string;
  /** What the trace holds besides, as it came. */
  rest: Record<string, unknown>;
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The transcript in a trace; null where the agent left none. */
export function transcriptOf(trace: unknown): Transcript | null {
  if (!isObject(trace) || !Array.isArray(trace.transcript)) return null;
  const { transcript, ended, ...rest } = trace;
  const entries: Entry[] = [];
  const open = new Map<string, Call>();
  let step = 0;
  for (const message of (transcript as unknown[]).filter(isObject)) {
    const text = textOf(message.content);
    if (message.role === 'tool') {
      const call = open.get(String(message.tool_call_id ?? ''));
      if (call) {
        Object.assign(call, { result: text, failed: message.error === true });
        open.delete(String(message.tool_call_id));
        continue;
      }
    }
    const isStep = message.role === 'assistant';
    if (isStep) step += 1;
    const calls = callsOf(message.tool_calls, open);
    const role = message.role === 'tool' ? `tool ${textOf(message.name)}`.trim() : message.role;
    entries.push({
      role: textOf(role ?? 'message'),
      step: isStep ? step : 0,
      text,
      calls,
      agent: textOf(message.agent),
    });
  }
  return { entries, ended: textOf(ended), rest };
}

function callsOf(told: unknown, open: Map<string, Call>): Call[] {
  if (!Array.isArray(told)) return [];
  return (told as unknown[]).filter(isObject).map((one) => {
    const made = isObject(one.function) ? one.function : one;
    const call = {
      name: textOf(made.name),
      arguments: parsed(made.arguments),
      result: null,
      failed: false,
    };
    open.set(textOf(one.id), call);
    return call;
  });
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? {};
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The arguments of a call as it is written: `status="open", page=2`. */
export function argumentsText(value: unknown): string {
  if (!isObject(value)) return JSON.stringify(value) ?? '';
  return Object.entries(value)
    .map(([name, one]) => `${name}=${JSON.stringify(one)}`)
    .join(', ');
}

/** The steps that scorers find wrong, each with what they say. */
export function failingSteps(
  scores: readonly { step?: number | null; reason?: string; name: string }[],
): Map<number, string> {
  const found = new Map<number, string>();
  for (const { step, reason, name } of scores) {
    if (typeof step !== 'number') continue;
    const before = found.get(step);
    found.set(step, [before, `${name}: ${reason ?? ''}`].filter(Boolean).join('\n'));
  }
  return found;
}

const ENDS: Record<string, string> = {
  answer: 'it answered',
  goal: 'the user reached the goal',
  gave_up: 'the user gave up',
  max_turns: 'the user had no more turns',
  max_steps: 'it had no more steps',
  max_seconds: 'its time was up',
  max_tokens: 'its tokens were used up',
  max_cost_usd: 'its money was spent',
};

export const endedWords = (ended: string): string => ENDS[ended] ?? ended;

export interface TranscriptChange {
  kind: 'same' | 'added' | 'removed';
  entry: Entry;
}

/** Two trajectories of one item, message by message; what differs in anything is removed and added. */
export function compareTranscripts(before: Transcript, after: Transcript): TranscriptChange[] {
  const key = ({ role, text, calls, agent }: Entry) => JSON.stringify([role, text, calls, agent]);
  const pieces = diffArrays(before.entries, after.entries, {
    comparator: (one, other) => key(one) === key(other),
  });
  return pieces.flatMap((piece) =>
    piece.value.map((entry) => ({
      kind: piece.added ? 'added' : piece.removed ? 'removed' : 'same',
      entry,
    })),
  );
}
