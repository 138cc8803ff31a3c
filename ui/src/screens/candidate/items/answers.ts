import { jsonText } from '@/lib/configurations';

/** An output as people read it: structured answers with their lines indented, text as it is. */
export function outputText(output: Record<string, unknown> | null | undefined): string {
  if (!output) return '';
  if (typeof output.data === 'object' && output.data !== null) return jsonText(output.data);
  const text = typeof output.text === 'string' ? output.text : jsonText(output.text ?? '');
  return pretty(text);
}

function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** One round of a refined output, as far as it is shown. */
export interface Round {
  round: number;
  output: string;
  score: number | null;
  passed: boolean | null;
  reason: string;
  error: string | null;
  model: string;
  endedWhy: string | null;
  answer: boolean;
}

/** The rounds of an item, where it was refined; older servers send none. */
export function roundsOf(run: object): Round[] {
  const { rounds, refinement } = run as {
    rounds?: readonly Record<string, unknown>[];
    refinement?: { answer_round?: number } | null;
  };
  if (!Array.isArray(rounds)) return [];
  return rounds.map((one: Record<string, unknown>) => ({
    round: Number(one.round ?? 0),
    output: outputText(one.output as Record<string, unknown> | null),
    score: typeof one.score === 'number' ? one.score : null,
    passed: typeof one.passed === 'boolean' ? one.passed : null,
    reason: String(one.reason ?? ''),
    error: typeof one.error === 'string' ? one.error : null,
    model: String(one.model ?? ''),
    endedWhy: typeof one.ended_why === 'string' ? one.ended_why : null,
    answer: refinement?.answer_round === one.round,
  }));
}
