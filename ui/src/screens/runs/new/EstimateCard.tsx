import { count, counted, money, tokens } from '@/lib/format';
import type { Schemas } from '@/api/client';

type Estimate = Schemas['Estimate'];

/** What a run would do and cost, before it begins: from about to about. */
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
  const { evaluations, questions, splits, total } = estimate;
  return (
    <div className="runs-estimate" aria-label="Estimate" role="group" aria-busy={waiting}>
      <div className="runs-estimate-parts">
        <Part
          label="Trials, at most"
          value={evaluations.max_trials === null ? 'no limit' : count(evaluations.max_trials)}
          hint={`${counted(evaluations.each_trial, 'evaluation')} each`}
        />
        <Part
          label={evaluations.max === null ? 'Evaluations, about' : 'Evaluations, at most'}
          value={evaluations.about === null ? 'no limit' : count(evaluations.about)}
          hint={`of ${counted(splits.validation, 'item')}, then ${count(splits.test)} held out`}
        />
        <Part
          label="Model calls, about"
          value={span(total, 'calls', count)}
          hint={
            questions
              ? `${span(questions, 'calls', count)} of them from the optimizer to ${questions.model}`
              : 'of agent, judges and refinement'
          }
        />
        <Part
          label="Cost, about"
          value={span(total, 'cost_usd', money)}
          hint={
            total?.most?.why_unknown ??
            total?.least.why_unknown ??
            `${span(total, 'input_tokens', tokens)} in, ${span(total, 'output_tokens', tokens)} out`
          }
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
  const { evaluations, total } = estimate;
  const cost = span(total, 'cost_usd', money);
  const parts = [
    evaluations.about === null ? null : counted(evaluations.about, 'evaluation'),
    total?.least.calls == null ? null : `${span(total, 'calls', count)} calls`,
    cost === UNKNOWN ? 'cost not known' : cost,
  ].filter((part) => part !== null);
  return <span className="muted small runs-foot-estimate">About {parts.join(' · ')}</span>;
}

const UNKNOWN = 'not known';
type Range = Schemas['AmountRange'];

/** From about to about; without an end where nothing limits it. */
function span(
  range: Range | null,
  name: 'calls' | 'cost_usd' | 'input_tokens' | 'output_tokens',
  shown: (value: number) => string,
): string {
  const least = range?.least[name] ?? null;
  if (least === null) return UNKNOWN;
  const from = shown(least);
  const most = range?.most?.[name] ?? null;
  if (most === null) return `from ${from}, no limit`;
  return from === shown(most) ? from : `${from} to ${shown(most)}`;
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
