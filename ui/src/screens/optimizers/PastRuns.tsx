import { Link } from 'wouter';
import { Card } from '@/components/Card';
import { Change, Score } from '@/components/Numbers';
import { Empty, Loaded } from '@/components/States';
import { Status } from '@/components/Status';
import { Duration, Time } from '@/components/Time';
import { count } from '@/lib/format';
import { usePastRuns, type PastRun } from './data';

const SHOWN = 100;
/** One word for one thing: as all other pages call it. */
const WORDS: Record<PastRun['status'], string> = {
  pending: 'initialized',
  running: 'running',
  succeeded: 'completed',
  failed: 'failed',
  stopped: 'cancelled',
};

export function PastRuns({ agent, name }: { agent: string; name: string }) {
  const runs = usePastRuns(agent, name, SHOWN);
  return (
    <Card title="Past runs" flush>
      <Loaded query={runs}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="It has not run yet">Run it now, or give it a schedule.</Empty>
          ) : (
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>Started</th>
                    <th>Status</th>
                    <th className="num">Baseline</th>
                    <th className="num">Best</th>
                    <th className="num">Change</th>
                    <th className="num">Trials</th>
                    <th>Took</th>
                    <th>Winner</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((run) => (
                    <Line key={run.id} run={run} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}

function Line({ run }: { run: PastRun }) {
  const delta =
    run.best_score !== null && run.baseline_score !== null
      ? Number(run.best_score) - Number(run.baseline_score)
      : null;
  const why = (run.error?.message as string | undefined) ?? run.stop_reason ?? '';
  return (
    <tr>
      <td>
        <Link href={`/runs/${run.id}`}>
          <Time at={run.started_at} />
        </Link>{' '}
        <span className="muted small">version {run.optimizer_version}</span>
      </td>
      <td title={why}>
        <Status value={WORDS[run.status]} />
      </td>
      <td className="num">
        <Score value={run.baseline_score} />
      </td>
      <td className="num">
        <Score value={run.best_score} />
      </td>
      <td className="num">
        <Change value={delta} />
      </td>
      <td className="num">{count(run.iterations)}</td>
      <td>
        <Duration from={run.started_at} to={run.completed_at} />
      </td>
      <td>
        {run.winning_candidate_id ? (
          <Link href={`/runs/${run.id}/candidates/${run.winning_candidate_id}`}>
            {run.promotion ? 'promoted' : 'review'}
          </Link>
        ) : (
          <span className="muted">none</span>
        )}
      </td>
    </tr>
  );
}
