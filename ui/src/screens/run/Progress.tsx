import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { Ticked } from '@/components/form/Ticked';
import { Duration, Time } from '@/components/Time';
import { count, duration, percent } from '@/lib/format';
import type { RunView } from './view';
import { explained, GRACE_MS, isFresh } from './words';

/** What the run is about, in one line. */
export function Facts({ run }: { run: RunView }) {
  return (
    <p className="run-facts muted">
      <span>
        <Link href={`/agents/${encodeURIComponent(run.agent)}`}>{run.agent}</Link> on{' '}
        <Link href={`/suites/${encodeURIComponent(run.suite)}`}>{run.suite}</Link>
      </span>
      <span>
        {run.optimizer}
        {!run.by_client && `, seed ${run.seed}`}
      </span>
      {run.kept_optimizer && (
        <span>
          by{' '}
          <Link
            href={`/optimizers/${encodeURIComponent(run.kept_optimizer.agent_name)}/${encodeURIComponent(run.kept_optimizer.optimizer_name)}`}
          >
            {run.kept_optimizer.optimizer_name}
          </Link>
          , from version {run.kept_optimizer.base_config_version}
        </span>
      )}
      <span>
        made <Time at={run.created_at} />
      </span>
      {run.started_at && (
        <span>
          {run.status === 'running' && run.owned ? (
            <>
              running for <Duration from={run.started_at} to={null} />
            </>
          ) : (
            `took ${duration(run.duration_seconds)}`
          )}
        </span>
      )}
      <span className="mono small" title="The run's id">
        {run.optimization_id}
      </span>
    </p>
  );
}

/** How far a run is that works at the moment. */
export function Progress({ run }: { run: RunView }) {
  if (run.status !== 'running' || !run.owned) return null;
  const { running, completed, pruned, failed, rejected } = run.counters;
  const counts: [number, string][] = [
    [running, 'running'],
    [completed, 'completed'],
    [pruned, 'pruned'],
    [failed, 'failed'],
    [rejected, 'refused'],
  ];
  const { finished, planned } = run.items;
  const share = planned === 0 ? 0 : finished / planned;
  return (
    <div className="card run-progress" aria-label="Progress" role="group">
      <div className="row between small">
        <span>
          {counts
            .filter(([many]) => many > 0)
            .map(([many, what]) => `${count(many)} ${what}`)
            .join(' · ') || 'The baseline comes first'}
        </span>
        <span className="muted">
          {count(finished)} of {count(planned)} item runs that are planned so far
        </span>
      </div>
      <div className="bar" role="img" aria-label={`${percent(share)} of the planned item runs`}>
        <span style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}

/** What an empty, failed or stopped run is, why, and what to do. */
export function Explanation({ run }: { run: RunView }) {
  const fresh = isFresh(run);
  const [, lookAgain] = useState(0);
  useEffect(() => {
    if (!fresh) return;
    const timer = setTimeout(() => lookAgain((times) => times + 1), GRACE_MS);
    return () => clearTimeout(timer);
  }, [fresh, run.updated_at]);
  const words = explained(run);
  if (!words) return null;
  return (
    <div className={`notice ${words.tone}`} role={words.tone === 'bad' ? 'alert' : 'note'}>
      <div className="stack tight grow">
        <strong>{words.title}</strong>
        {words.why !== '' && (
          <span>
            <Ticked text={words.why} />
          </span>
        )}
        <span className="small">
          <Ticked text={words.todo} />
        </span>
      </div>
    </div>
  );
}
