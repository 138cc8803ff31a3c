import { useState } from 'react';
import { Diff } from '@/components/Diff';
import { Money, Score } from '@/components/Numbers';
import { Segmented } from '@/components/Tabs';
import { counted, milliseconds, tokensInAndOut } from '@/lib/format';
import { outputText, roundsOf, type Round } from './answers';
import type { ItemRun, ItemSide } from '../data';
import { RunTrace } from './TraceView';

/** What one candidate made of an item: output, verdicts, rounds, trace. */
export function ItemSideView({
  title,
  side,
  against,
}: {
  title: string;
  side: ItemSide | undefined;
  /** The other one, when the outputs are shown as a diff. */
  against?: ItemSide;
}) {
  const [at, setAt] = useState(0);
  const run = side?.runs[Math.min(at, (side?.runs.length ?? 1) - 1)];
  return (
    <section className="candidate-answer" aria-label={title}>
      <div className="row between">
        <h4>{title}</h4>
        {run && (
          <span className={`badge ${run.passed ? 'good' : 'bad'}`}>
            <Score value={run.score} /> {run.passed ? 'passed' : 'failed'}
          </span>
        )}
      </div>
      {side && side.runs.length > 1 && (
        <Segmented
          label={`Runs of ${title}`}
          options={side.runs.map((one, index) => ({
            value: String(index),
            label: `Run ${index + 1}: ${one.score.toFixed(2)}`,
          }))}
          chosen={String(at)}
          onChoose={(value) => setAt(Number(value))}
        />
      )}
      {run ? (
        <RunView run={run} against={against?.runs[at] ?? against?.runs[0]} />
      ) : (
        <p className="muted">It did not run on this item.</p>
      )}
    </section>
  );
}

function RunView({ run, against }: { run: ItemRun; against: ItemRun | undefined }) {
  const text = outputText(run.output);
  return (
    <div className="stack tight">
      {run.error ? (
        <div className="notice bad">
          <div className="stack tight">
            <strong>{run.error.message ?? 'It failed.'}</strong>
            {run.error.fix && <span className="small">{run.error.fix}</span>}
          </div>
        </div>
      ) : against ? (
        <Diff before={outputText(against.output)} after={text} />
      ) : (
        <pre className="candidate-output">{text === '' ? '(empty)' : text}</pre>
      )}
      <Verdicts run={run} />
      <Rounds rounds={roundsOf(run)} />
      <RunTrace run={run} against={against} />
      <p className="muted small">
        {tokensInAndOut(run.usage)} · {milliseconds(run.latency_ms)} ·{' '}
        <Money value={run.usage.cost_usd} />
        {run.cached && ' · from the cache'}
      </p>
    </div>
  );
}

function Verdicts({ run }: { run: ItemRun }) {
  if (run.scores.length === 0) return null;
  return (
    <dl className="candidate-verdicts">
      {run.scores.map((one) => (
        <div key={one.name}>
          <dt>
            <code>{one.name}</code>
            <span className={one.passed === false || one.error ? 'bad' : ''}>
              <Score value={one.value} />
            </span>
          </dt>
          {(one.error || one.reason) && (
            <dd className={`small ${one.error ? 'bad' : 'muted'}`}>{one.error ?? one.reason}</dd>
          )}
        </div>
      ))}
    </dl>
  );
}

function Rounds({ rounds }: { rounds: readonly Round[] }) {
  if (rounds.length === 0) return null;
  return (
    <details className="configuration-part" open={rounds.length > 1}>
      <summary className="configuration-head">{counted(rounds.length, 'round')}</summary>
      <ol className="candidate-rounds">
        {rounds.map((one, index) => (
          <li key={one.round}>
            <div className="row">
              <strong>{one.round === 0 ? 'First output' : `Round ${one.round}`}</strong>
              <Score value={one.score} />
              {one.answer && <span className="badge accent">the answer</span>}
              <span className="muted small">{one.model}</span>
            </div>
            <Diff before={rounds[index - 1]?.output ?? one.output} after={one.output} />
            {(one.error ?? one.reason) !== '' && (
              <p className={`small ${one.error ? 'bad' : 'muted'}`}>{one.error ?? one.reason}</p>
            )}
            {one.endedWhy && <p className="small muted">Ended: {one.endedWhy}</p>}
          </li>
        ))}
      </ol>
    </details>
  );
}
