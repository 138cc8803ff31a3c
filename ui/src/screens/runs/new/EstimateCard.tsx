import { count, exactMoney, money } from '@/lib/format';
import type { Schemas } from '@/api/client';

type Estimate = Schemas['Estimate'];

/** What a run would do and cost at most, before it begins. */
export function EstimateCard({
  estimate,
  waiting,
}: {
  estimate: Estimate | undefined;
  waiting: boolean;
}) {
  if (!estimate)
    return (
      <p className="muted small" role="status">
        {waiting ? 'Working out what it would cost…' : 'No estimate: see what is wrong above.'}
      </p>
    );
  const { evaluations, each_evaluation: each, splits } = estimate;
  return (
    <div className="runs-estimate" aria-label="Estimate" role="group" aria-busy={waiting}>
      <div className="runs-estimate-parts">
        <Part
          label="Trials, at most"
          value={evaluations.max_trials === null ? 'no limit' : count(evaluations.max_trials)}
          hint={`${count(evaluations.each_trial)} evaluations each`}
        />
        <Part
          label="Evaluations, at most"
          value={evaluations.max === null ? 'no limit' : count(evaluations.max)}
          hint={`of ${count(splits.validation)} items, then ${count(splits.test)} held out`}
        />
        <Part
          label="Model calls, at most"
          value={estimate.max_calls === null ? 'not known' : count(estimate.max_calls)}
          hint="of the agent"
        />
        <Part
          label="Cost, at most"
          value={estimate.max_cost_usd === null ? 'not known' : money(estimate.max_cost_usd)}
          hint={each.why_unknown ?? exactMoney(estimate.max_cost_usd)}
        />
      </div>
      {estimate.notes.length > 0 && (
        <ul>
          {estimate.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The same in a line, beside the button that starts it. */
export function EstimateLine({ estimate }: { estimate: Estimate | undefined }) {
  if (!estimate) return null;
  const { evaluations, max_calls: calls, max_cost_usd: cost } = estimate;
  const parts = [
    evaluations.max === null ? null : `${count(evaluations.max)} evaluations`,
    calls === null ? null : `${count(calls)} calls`,
    cost === null ? 'cost not known' : money(cost),
  ].filter((part) => part !== null);
  return <span className="muted small runs-foot-estimate">At most {parts.join(' · ')}</span>;
}

function Part({ label, value, hint }: { label: string; value: string; hint: string }) {
  return (
    <div>
      <span className="stat-label">{label}</span>
      <span className="stat-value">{value}</span>
      <span className="muted small">{hint}</span>
    </div>
  );
}
