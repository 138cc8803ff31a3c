import { Link } from 'wouter';
import { LiveHint } from '@/components/LiveHint';
import { Duration } from '@/components/Time';
import { Money } from '@/components/Numbers';
import { count } from '@/lib/format';
import type { Mode } from '@/live/stream';
import { STILL_RUNNING } from './polling';
import { hasEnded, STAGES } from './stages';
import { RunStatusBadge } from './StatusBadge';
import type { ImageRun } from '../types';

interface Spent {
  calls: number;
  cost_usd: number | null;
}

/** How far a run is, what it does, and what fell back to something else. */
export function RunProgress({
  run,
  mode,
  left,
  onLookOn,
  onCancel,
}: {
  run: ImageRun;
  mode: Mode;
  left: boolean;
  onLookOn: () => void;
  onCancel: () => void;
}) {
  const ended = hasEnded(run);
  const percent = run.progress_percent;
  const spent = run.spending as unknown as Spent;
  return (
    <section
      className="card run-progress"
      aria-label="Progress"
      data-stage={run.status}
      data-percent={percent}
    >
      <div className="row between">
        <div className="row">
          <strong role="status">{run.stage_message}</strong>
          <RunStatusBadge run={run} />
          {!ended && !left && <LiveHint mode={mode} />}
        </div>
        <div className="row">
          <span className="small muted">
            <Duration from={run.created_at} to={run.completed_at} />
            {ended && (
              <>
                {' · '}
                {count(spent.calls)} {spent.calls === 1 ? 'call' : 'calls'}
                {' · '}
                <Money value={spent.cost_usd} />
              </>
            )}
          </span>
          {!ended && (
            <button
              type="button"
              className="btn small danger"
              disabled={run.cancel_requested}
              onClick={onCancel}
            >
              {run.cancel_requested ? 'Stopping…' : 'Cancel'}
            </button>
          )}
        </div>
      </div>
      <div
        className="bar"
        role="progressbar"
        aria-label="Progress of the run"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(percent)}
      >
        <span style={{ width: `${percent}%` }} data-tone={run.status} />
      </div>
      <Stages run={run} />
      {run.judge_prompt !== null && (
        <span className="small muted">Judged by what was asked at first: “{run.judge_prompt}”</span>
      )}
      {left && (
        <div className="notice info">
          <span className="grow">{STILL_RUNNING}</span>
          <button type="button" className="btn small" onClick={onLookOn}>
            Look again
          </button>
        </div>
      )}
      {run.degradations.length > 0 && (
        <div className="notice warn" data-part="degradations">
          <div className="stack tight">
            <strong>What was replaced</strong>
            <ul className="plain-list small">
              {run.degradations.map((words, index) => (
                <li key={index}>{words}</li>
              ))}
            </ul>
          </div>
        </div>
      )}
      {run.status === 'failed' && run.error && (
        <div className="notice bad" role="alert">
          <div className="stack tight">
            <strong>{run.error.message}</strong>
            {run.error.fix && <span className="small">{run.error.fix}</span>}
            <code className="small muted">{run.error.code}</code>
          </div>
        </div>
      )}
      {run.status === 'cancelled' && (
        <span className="small muted">
          What was made before stays in the{' '}
          <Link href={`/workbench/${encodeURIComponent(run.project_id)}`}>history</Link>.
        </span>
      )}
    </section>
  );
}

function Stages({ run }: { run: ImageRun }) {
  const at = STAGES.indexOf(run.last_stage as (typeof STAGES)[number]);
  const whole = run.status === 'completed' || run.status === 'completed_degraded';
  return (
    <ol className="stages">
      {STAGES.map((stage, index) => {
        const state = whole || index < at ? 'done' : index === at ? 'now' : 'later';
        return (
          <li key={stage} data-state={state} aria-current={state === 'now' ? 'step' : undefined}>
            <span aria-hidden="true">{state === 'done' ? '✓' : index + 1}</span> {stage}
          </li>
        );
      })}
    </ol>
  );
}
