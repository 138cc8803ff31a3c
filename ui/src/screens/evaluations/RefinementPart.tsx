import { Card } from '@/components/Card';
import { ChartFrame } from '@/components/ChartFrame';
import { Change, Money, Score } from '@/components/Numbers';
import { useAddress } from '@/lib/address';
import { count, counted, interval, percent } from '@/lib/format';
import type { ItemFilter } from './itemFilters';
import {
  endsOf,
  endWords,
  isLive,
  OUTCOME_SIGNS,
  OUTCOME_WORDS,
  outcomeHelp,
  OUTCOMES,
  smallMoney,
  type EvaluationResult,
  type EvaluationView,
  type Refinement,
} from './result';
import { roundName } from './rounds';
import { RoundsChart } from './RoundsChart';

/** What refinement did to the outputs of an evaluation, or why it did nothing. */
export function RefinementPart({
  view,
  result,
}: {
  view: EvaluationView;
  result: EvaluationResult;
}) {
  const found = result.refinement;
  if (!found || view.refine === null) return null;
  if (!found.active)
    return (
      <div className="notice warn" data-refinement="inactive">
        <div className="stack tight">
          <strong>Refinement is inactive: {found.why_inactive ?? 'it does not apply here'}</strong>
          <span className="small">
            {found.limit > 0
              ? `A limit of ${found.limit} is set, and each output was judged once. Nothing was refined, and nothing was spent on it.`
              : 'Each output was judged once. A limit above 0 switches refinement on.'}
          </span>
        </div>
      </div>
    );
  if (found.outputs === 0)
    return (
      <Card title="Refinement">
        <p className="muted">
          {isLive(view.status)
            ? 'No output is through all of its rounds yet.'
            : 'No output got a verdict, so there was nothing to refine.'}
        </p>
      </Card>
    );
  return (
    <div className="evals-refinement" data-refinement="active">
      <MeanByRound found={found} />
      <Card title="What refinement did">
        <Summary found={found} />
      </Card>
    </div>
  );
}

function MeanByRound({ found }: { found: Refinement }) {
  const points = found.by_round.map(({ round, score, interval: [low, high] }) => ({
    round,
    score,
    low,
    high,
  }));
  return (
    <ChartFrame
      title="Mean score by round"
      chart={
        <>
          <RoundsChart
            points={points}
            threshold={found.threshold}
            label="Mean score by round with 95% intervals"
          />
          <p className="muted small evals-chart-note">
            Over all {counted(found.outputs, 'output')}, with 95% intervals. An output that ended
            earlier keeps its last score, so each point is what a limit of that round gives.
          </p>
        </>
      }
      table={
        <div className="table-wrap">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Round</th>
                <th scope="col" className="num">
                  Outputs
                </th>
                <th scope="col" className="num">
                  Mean score
                </th>
                <th scope="col" className="num">
                  95% interval
                </th>
              </tr>
            </thead>
            <tbody>
              {found.by_round.map((one) => (
                <tr key={one.round}>
                  <th scope="row">{roundName(one.round)}</th>
                  <td className="num">{count(one.outputs)}</td>
                  <td className="num">
                    <Score value={one.score} />
                  </td>
                  <td className="num">{interval(...one.interval)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      }
    />
  );
}

function Summary({ found }: { found: Refinement }) {
  const address = useAddress();
  const show = (filter: ItemFilter) => {
    address.set({ filter, q: null });
    document.getElementById('evals-items')?.scrollIntoView({ block: 'start' });
  };
  const share = (part: number) => percent(found.outputs === 0 ? 0 : part / found.outputs);
  return (
    <div className="stack">
      <p>
        <strong>{`${count(found.refined)} of ${counted(found.outputs, 'output')}`}</strong> were
        refined, in {count(found.rounds)} {found.rounds === 1 ? 'round' : 'rounds'}.
        {found.first_score !== null && found.latest_score !== null && (
          <>
            {' '}
            The {found.answer === 'best' ? 'best' : 'latest'} scores{' '}
            <Change
              value={
                (found.answer === 'best' ? (found.best_score ?? 0) : found.latest_score) -
                found.first_score
              }
            />{' '}
            on average.
          </>
        )}
      </p>
      <OutcomeBar found={found} />
      <ul className="evals-outcomes">
        {OUTCOMES.map((outcome) => (
          <li key={outcome}>
            <button
              type="button"
              className="evals-outcome"
              data-outcome={outcome}
              onClick={() => show(outcome)}
              title={`Show those: ${outcomeHelp(outcome, found.threshold)}`}
            >
              <span>
                <strong>{count(found[outcome])}</strong>{' '}
                <b className={`evals-swatch ${outcome}`} aria-hidden="true">
                  {OUTCOME_SIGNS[outcome]}
                </b>
              </span>
              <span className="small">
                {OUTCOME_WORDS[outcome]} <span className="muted">{share(found[outcome])}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <dl className="kv">
        <dt>How rounds ended</dt>
        <dd>
          {endsOf(found).map(({ end, outputs }, index) => (
            <span key={end} data-ended={end}>
              {index > 0 && ' · '}
              {end === 'limit' ? (
                <button type="button" className="evals-link" onClick={() => show('limit')}>
                  {`${count(outputs)} ${endWords(end)}`}
                </button>
              ) : (
                `${count(outputs)} ${endWords(end)}`
              )}
            </span>
          ))}
        </dd>
        <dt>Cost per fixed output</dt>
        <dd data-cost-per-fixed>
          {found.cost_per_fixed_usd === null ? (
            <span className="muted">
              {found.fixed === 0
                ? 'none was fixed'
                : 'unknown: a price is missing or all was cached'}
            </span>
          ) : (
            <>
              <Money value={found.cost_per_fixed_usd} />
              {found.cost_per_fixed_usd < 0.01 && (
                <span className="muted small">{` ${smallMoney(found.cost_per_fixed_usd)}`}</span>
              )}
            </>
          )}
        </dd>
        <dt>Cost of refining</dt>
        <dd>
          <Money value={found.usage.cost_usd} />{' '}
          <span className="muted small">{`${counted(found.usage.calls, 'call')}, with the judging of refined outputs`}</span>
        </dd>
        <dt>Means</dt>
        <dd>
          first <Score value={found.first_score} /> · latest <Score value={found.latest_score} /> ·
          best <Score value={found.best_score} />{' '}
          <span className="muted small">{`the ${found.answer} round is the answer`}</span>
        </dd>
        <dt>Settings</dt>
        <dd>
          {`at most ${found.limit} ${found.limit === 1 ? 'round' : 'rounds'}, ${
            found.threshold === null ? 'no threshold' : `threshold ${found.threshold}`
          }`}
        </dd>
      </dl>
    </div>
  );
}

/** The share of each outcome; the numbers stand below it. */
function OutcomeBar({ found }: { found: Refinement }) {
  const rest = found.outputs - OUTCOMES.reduce((sum, outcome) => sum + found[outcome], 0);
  return (
    <div className="evals-bar" aria-hidden="true">
      {OUTCOMES.map((outcome) => (
        <span
          key={outcome}
          className={`evals-part ${outcome}`}
          style={{ flexGrow: found[outcome] }}
        />
      ))}
      <span className="evals-part rest" style={{ flexGrow: Math.max(0, rest) }} />
    </div>
  );
}
