import { Diff } from '@/components/Diff';
import { Change, Money, Score } from '@/components/Numbers';
import { Segmented } from '@/components/Tabs';
import { Time } from '@/components/Time';
import { useAddress } from '@/lib/address';
import { count, milliseconds, tokensInAndOut } from '@/lib/format';
import { outputText } from '@/screens/candidate/items/answers';
import { RunTrace } from '@/screens/candidate/items/TraceView';
import '@/components/configuration/configuration.css';
import '@/screens/candidate/candidate.css';
import { endWords, type EvaluationView, type ItemRun, type Usage } from '../result';
import { roundName, stepsOf, type Step } from '../rounds';

type View = 'diff' | 'text';

/** The first output and each one after it, every one with its evaluation. */
export function Sequence({ view, run }: { view: EvaluationView; run: ItemRun }) {
  const address = useAddress();
  const steps = stepsOf(run);
  const shown: View = address.get('view') === 'text' ? 'text' : 'diff';
  const threshold = view.refine?.threshold ?? null;
  return (
    <section className="evals-sequence" aria-labelledby="evals-sequence">
      <div className="row between">
        <h2 id="evals-sequence">{steps.length > 1 ? 'Outputs, round by round' : 'Output'}</h2>
        {steps.length > 1 && (
          <Segmented<View>
            label="How refined outputs are shown"
            options={[
              { value: 'diff', label: 'Changes' },
              { value: 'text', label: 'Text' },
            ]}
            chosen={shown}
            onChoose={(value) => address.set({ view: value === 'diff' ? null : value })}
          />
        )}
      </div>
      {run.error && (
        <div className="notice bad">
          <div className="stack tight">
            <strong>{run.error.message ?? 'It failed.'}</strong>
            {run.error.fix && <span className="small">{run.error.fix}</span>}
          </div>
        </div>
      )}
      {steps.length > 0 ? (
        <ol className="evals-steps">
          {steps.map((step) => (
            <RoundStep
              key={step.round.round}
              step={step}
              shown={shown}
              threshold={threshold}
              judges={view.refine?.judges ?? []}
            />
          ))}
          {run.refinement && (
            <li className="evals-end">
              <span>
                Ended: <strong>{endWords(run.refinement.ended)}</strong>
                {run.refinement.ended_why !== '' && `: ${run.refinement.ended_why}`}
              </span>
            </li>
          )}
        </ol>
      ) : (
        !run.error && <Single run={run} />
      )}
      <RunTrace run={run} />
    </section>
  );
}

function RoundStep({
  step,
  shown,
  threshold,
  judges,
}: {
  step: Step;
  shown: View;
  threshold: number | null;
  judges: readonly string[];
}) {
  const { round, text, before, delta, answer } = step;
  return (
    <li
      className="card evals-step"
      id={`round-${round.round}`}
      data-round={round.round}
      data-answer={answer}
    >
      <div className="evals-step-head">
        <div className="row">
          <h3>{roundName(round.round)}</h3>
          {answer && <span className="badge accent">the answer</span>}
          <span className="muted small">
            {round.round === 0 ? 'by' : 'rewritten by'} {round.model}
          </span>
        </div>
        <span className="muted small">
          <Time at={round.created_at} />
        </span>
      </div>
      {before !== null && shown === 'diff' ? (
        before === text ? (
          <>
            <p className="small muted evals-same">It came back unchanged.</p>
            <Text text={text} />
          </>
        ) : (
          <Diff before={before} after={text} />
        )
      ) : (
        <Text text={text} />
      )}
      <div className="evals-verdict">
        <div className="evals-verdict-score" data-score={round.score}>
          {round.error === null ? (
            <>
              <span className="evals-big">
                <Score value={round.score} />
              </span>
              {delta !== null && (
                <span className="small">
                  <Change value={delta} />
                </span>
              )}
              <span className={`badge ${round.passed ? 'good' : 'bad'}`}>
                {round.passed ? 'passed' : 'failed'}
              </span>
            </>
          ) : (
            <span className="badge warn">no verdict</span>
          )}
        </div>
        <div className="stack tight grow">
          <p className="small muted">
            {round.round === 0 ? 'Evaluation' : 'Re-evaluation'}
            {judges.length > 0 && ` by ${judges.join(', ')}`}
            {round.error === null &&
              threshold !== null &&
              (round.score >= threshold
                ? `: reaches the threshold ${threshold}`
                : `: below the threshold ${threshold}`)}
          </p>
          {round.error !== null ? (
            <p className="bad">{round.error}</p>
          ) : round.scores.length > 1 ? (
            <Verdicts scores={round.scores} />
          ) : (
            <p className="evals-reason">{round.reason || '(no reason given)'}</p>
          )}
        </div>
      </div>
      <Spent usage={round.usage} latency={round.latency_ms} cached={round.cached} />
    </li>
  );
}

function Text({ text }: { text: string }) {
  return <pre className="evals-output">{text === '' ? '(empty)' : text}</pre>;
}

interface Verdict {
  name: string;
  value: number;
  passed: boolean | null;
  reason?: string | null;
  error?: string | null;
}

function Verdicts({ scores }: { scores: readonly Verdict[] }) {
  return (
    <dl className="evals-verdicts">
      {scores.map((one) => (
        <div key={one.name}>
          <dt>
            <code>{one.name}</code>{' '}
            <span className={one.passed === false || one.error ? 'bad' : ''}>
              <Score value={one.value} />
            </span>
          </dt>
          {(one.error || one.reason) && (
            <dd className={one.error ? 'bad' : ''}>{one.error ?? one.reason}</dd>
          )}
        </div>
      ))}
    </dl>
  );
}

/** What the writing and the judging of an output took. */
function Spent({ usage, latency, cached }: { usage: Usage; latency: number; cached: boolean }) {
  return (
    <p className="muted small evals-spent">
      {`${count(usage.calls)} ${usage.calls === 1 ? 'call' : 'calls'} · ${tokensInAndOut(usage)} · `}
      <Money value={usage.cost_usd} />
      {` · written in ${milliseconds(latency)}`}
      {cached && ' · from a cache'}
    </p>
  );
}

/** A run whose output was judged once, outside of any refinement. */
function Single({ run }: { run: ItemRun }) {
  return (
    <div className="card evals-step" data-round={0}>
      <Text text={outputText(run.output)} />
      <div className="evals-verdict">
        <div className="evals-verdict-score">
          <span className="evals-big">
            <Score value={run.score} />
          </span>
          <span className={`badge ${run.passed ? 'good' : 'bad'}`}>
            {run.passed ? 'passed' : 'failed'}
          </span>
        </div>
        <div className="grow">
          <Verdicts scores={run.scores} />
        </div>
      </div>
      <Spent usage={run.usage} latency={run.latency_ms} cached={run.cached} />
    </div>
  );
}
