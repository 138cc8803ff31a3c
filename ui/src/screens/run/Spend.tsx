import { Card } from '@/components/Card';
import { Money } from '@/components/Numbers';
import {
  cachedShare,
  count,
  counted,
  duration,
  money,
  percent,
  tokensInAndOut,
} from '@/lib/format';
import type { RunView } from './view';

/** What was spent for what, and what is left of the budget. */
export function Spend({ run }: { run: RunView }) {
  const purposes = purposesOf(run);
  const limits = limitsOf(run);
  const used = run.budget.used;
  const cached = cachedShare(run.usage);
  return (
    <Card title="Spend and budget">
      <div className="stack">
        <dl className="run-totals">
          <div>
            <dt>Cost</dt>
            <dd>
              {run.usage.cost_usd === null ? (
                <span title="Some call has no known price">not known</span>
              ) : (
                <Money value={run.usage.cost_usd} />
              )}
            </dd>
          </div>
          <div>
            <dt>Model calls</dt>
            <dd>{count(run.usage.calls)}</dd>
          </div>
          <div>
            <dt>Tokens</dt>
            <dd>{count(run.usage.input_tokens + run.usage.output_tokens)}</dd>
          </div>
          {cached !== null && (
            <div>
              <dt title="Of the input tokens, those that the provider had in its prompt cache">
                Cached tokens
              </dt>
              <dd>{percent(cached)}</dd>
            </div>
          )}
          <div>
            <dt>Evaluations</dt>
            <dd>{count(used.evaluations)}</dd>
          </div>
        </dl>
        {purposes.length > 0 && (
          <ul className="run-bars" aria-label="Spend by purpose">
            {purposes.map((one) => (
              <li key={one.purpose}>
                <div className="row between small">
                  <span>{one.label}</span>
                  <span className="muted">
                    {one.cost === null ? 'price not known' : money(one.cost)} ·{' '}
                    {tokensInAndOut(one.usage)} · {counted(one.calls, 'call')}
                  </span>
                </div>
                <Bar share={one.share} says={`${one.label}: ${percent(one.share)} of the spend`} />
              </li>
            ))}
          </ul>
        )}
        {purposes.length === 0 && <p className="muted small">No model was called.</p>}
        <h3>Budget</h3>
        {limits.length === 0 ? (
          <p className="muted small">No limit is set: it ends when the optimizer is done.</p>
        ) : (
          <ul className="run-bars" aria-label="Budget">
            {limits.map((limit) => (
              <li key={limit.name}>
                <div className="row between small">
                  <span>{limit.label}</span>
                  <span className="muted">
                    {shown(limit, limit.used)} of {shown(limit, limit.limit)} ·{' '}
                    {shown(limit, limit.left)} left
                  </span>
                </div>
                <Bar
                  share={limit.share}
                  says={`${limit.label}: ${percent(limit.share)} of the budget used`}
                  full={limit.share >= 0.95}
                />
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}

function shown(limit: Limit, value: number): string {
  if (limit.name === 'cost_usd') return money(value);
  return limit.name === 'seconds' ? duration(value) : count(value);
}

function Bar({ share, says, full = false }: { share: number; says: string; full?: boolean }) {
  return (
    <div className={`bar ${full ? 'run-bar-full' : ''}`} role="img" aria-label={says}>
      <span style={{ width: `${Math.min(100, share * 100)}%` }} />
    </div>
  );
}

interface PurposeShare {
  purpose: string;
  label: string;
  calls: number;
  tokens: number;
  usage: RunView['usage']['by_purpose'][string];
  cost: number | null;
  /** Of the cost; of the tokens where nothing has a price. */
  share: number;
}

const PURPOSES: Record<string, string> = {
  agent: 'Agent: answers to items',
  judge: 'Judge: scores of answers',
  user: 'Simulated user: its turns',
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
    usage,
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

interface Limit {
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
