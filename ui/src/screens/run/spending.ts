import type { RunView } from './view';

export interface PurposeShare {
  purpose: string;
  label: string;
  calls: number;
  tokens: number;
  cost: number | null;
  /** Of the cost; of the tokens where nothing has a price. */
  share: number;
}

const PURPOSES: Record<string, string> = {
  agent: 'Agent: answers to items',
  judge: 'Judge: scores of answers',
  propose: 'Optimizer: new candidates',
  refine: 'Refinement: better answers',
};

/** By purpose, the largest first. */
export function purposesOf(run: RunView): PurposeShare[] {
  const all = Object.entries(run.usage.by_purpose).map(([purpose, usage]) => ({
    purpose,
    label: PURPOSES[purpose] ?? purpose,
    calls: usage.calls,
    tokens: usage.input_tokens + usage.output_tokens,
    cost: usage.cost_usd,
  }));
  const priced = all.every((one) => one.cost !== null) && all.some((one) => (one.cost ?? 0) > 0);
  const weight = (one: (typeof all)[number]) => (priced ? (one.cost ?? 0) : one.tokens);
  const total = all.reduce((sum, one) => sum + weight(one), 0);
  return all
    .map((one) => ({ ...one, share: total === 0 ? 0 : weight(one) / total }))
    .sort((one, other) => other.share - one.share || one.purpose.localeCompare(other.purpose));
}

type AmountName = keyof RunView['budget']['limits'];

export interface Limit {
  name: AmountName;
  label: string;
  limit: number;
  used: number;
  left: number;
  share: number;
}

const AMOUNTS: readonly [AmountName, string][] = [
  ['trials', 'Trials'],
  ['evaluations', 'Evaluations'],
  ['calls', 'Model calls'],
  ['tokens', 'Tokens'],
  ['cost_usd', 'Cost'],
  ['seconds', 'Time'],
];

/** The limits that were set, with what is left of them. */
export function limitsOf(run: RunView): Limit[] {
  const { limits, used, left } = run.budget;
  return AMOUNTS.flatMap(([name, label]) => {
    const limit = limits[name];
    if (limit === null) return [];
    const gone = used[name] ?? 0;
    return {
      name,
      label,
      limit,
      used: gone,
      left: left[name] ?? Math.max(0, limit - gone),
      share: limit === 0 ? 1 : gone / limit,
    };
  });
}
