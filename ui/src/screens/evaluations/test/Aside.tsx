import { useMemo } from 'react';
import { Card } from '@/components/Card';
import { ChartFrame } from '@/components/ChartFrame';
import { Change, Score } from '@/components/Numbers';
import { FieldValue } from '@/components/trajectory/FieldValue';
import { endWords, type EvaluationView, type ItemRun } from '../result';
import { judged, roundName, stepsOf } from '../rounds';
import { RoundsChart } from '../RoundsChart';
import { expectedFields, rowParts, type SuiteView } from '../suite';

/** What was asked, how the score went, and why it ended. */
export function TestAside({
  view,
  run,
  suite,
}: {
  view: EvaluationView;
  run: ItemRun;
  suite: SuiteView | undefined;
}) {
  const parts = rowParts(run.input, expectedFields(suite));
  return (
    <div className="evals-aside">
      <Card title="Input">
        {run.input === null ? (
          <p className="muted">The dataset’s row was not stored.</p>
        ) : (
          <Fields fields={parts.given} />
        )}
      </Card>
      {parts.expected.length > 0 && (
        <Card title="Expected">
          <Fields fields={parts.expected} />
        </Card>
      )}
      {run.rounds.length > 0 && <ScoreLine run={run} threshold={view.refine?.threshold ?? null} />}
      <Ending view={view} run={run} />
    </div>
  );
}

function Fields({ fields }: { fields: readonly [string, unknown][] }) {
  return (
    <dl className="evals-row">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt className={fields.length === 1 && name === 'expected' ? 'sr-only' : ''}>{name}</dt>
          <dd>
            <FieldValue name={name} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ScoreLine({ run, threshold }: { run: ItemRun; threshold: number | null }) {
  const points = useMemo(() => judged(run.rounds), [run.rounds]);
  const steps = stepsOf(run);
  return (
    <ChartFrame
      title="Score by round"
      chart={
        <RoundsChart
          points={points}
          threshold={threshold}
          answer={run.refinement?.answer_round ?? null}
          label="Score by round"
        />
      }
      table={
        <div className="table-wrap">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Round</th>
                <th scope="col" className="num">
                  Score
                </th>
                <th scope="col" className="num">
                  Change
                </th>
              </tr>
            </thead>
            <tbody>
              {steps.map(({ round, delta }) => (
                <tr key={round.round}>
                  <th scope="row">{roundName(round.round)}</th>
                  <td className="num">
                    {round.error === null ? <Score value={round.score} /> : 'no verdict'}
                  </td>
                  <td className="num">
                    <Change value={delta} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      }
    />
  );
}

function Ending({ view, run }: { view: EvaluationView; run: ItemRun }) {
  const found = run.refinement;
  if (!found) {
    if (view.refine === null) return null;
    return (
      <Card title="Refinement">
        <p className="muted">
          {view.refine.active
            ? 'There was no output to refine.'
            : `Inactive: ${view.refine.why_inactive ?? 'it does not apply here'}.`}
        </p>
      </Card>
    );
  }
  return (
    <Card title="How it ended">
      <dl className="kv">
        <dt>Why</dt>
        <dd data-ended={found.ended}>
          <strong>{endWords(found.ended)}</strong>
          {found.ended_why !== '' && <span className="muted">: {found.ended_why}</span>}
        </dd>
        <dt>Answer</dt>
        <dd data-answer={found.answer_round}>
          {roundName(found.answer_round)}{' '}
          <span className="muted small">
            {found.answer === 'best' ? 'the best one counts' : 'the latest one counts'}
          </span>
        </dd>
        <dt>Scores</dt>
        <dd>
          first <Score value={found.first_score} /> · latest <Score value={found.latest_score} /> ·
          best <Score value={found.best_score} />
          {found.best_round !== found.answer_round && (
            <span className="muted small"> ({roundName(found.best_round).toLowerCase()})</span>
          )}
        </dd>
        <dt>Change</dt>
        <dd>
          <Change value={run.score - found.first_score} />{' '}
          <span className="muted small">from the first output to the answer</span>
        </dd>
      </dl>
    </Card>
  );
}
