import { Link } from 'wouter';
import { Card } from '@/components/Card';
import { Money, Score } from '@/components/Numbers';
import { Empty } from '@/components/States';
import { Status } from '@/components/Status';
import { Duration, Time } from '@/components/Time';
import { count, interval, milliseconds } from '@/lib/format';
import type { Experiment, RunCandidate } from './data';
import { roleWords } from './roles';

/** Everything that this candidate ran on, and what it cost. */
export function Experiments({ candidate }: { candidate: RunCandidate }) {
  if (candidate.experiments.length === 0)
    return (
      <Card title="Experiments">
        <Empty title="It has not run yet">
          <p>It waits for its turn, or the run ended before.</p>
        </Empty>
      </Card>
    );
  return (
    <Card title="Experiments" flush>
      <div className="table-wrap" tabIndex={0} role="region" aria-label="Experiments">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Ran on</th>
              <th scope="col">Status</th>
              <th scope="col" className="num">
                Score
              </th>
              <th scope="col" className="num">
                95% interval
              </th>
              <th scope="col" className="num">
                Passed
              </th>
              <th scope="col" className="num">
                Tokens / call
              </th>
              <th scope="col" className="num">
                Latency
              </th>
              <th scope="col" className="num">
                Cost
              </th>
              <th scope="col">When</th>
              <th scope="col">Took</th>
            </tr>
          </thead>
          <tbody>
            {candidate.experiments.map((one) => (
              <Row key={one.experiment_id} one={one} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Row({ one }: { one: Experiment }) {
  return (
    <tr>
      <td>
        <Link href={`/evaluations/${one.experiment_id}`}>{roleWords(one.role)}</Link>
        {one.error && <div className="small bad candidate-error">{one.error}</div>}
      </td>
      <td>
        <Status value={one.status} />
      </td>
      <td className="num">
        <Score value={one.score} />
      </td>
      <td className="num muted">{interval(one.ci_low, one.ci_high) || '–'}</td>
      <td className="num">
        {count(one.passed)} of {count(one.items)}
      </td>
      <td className="num">{count(one.avg_tokens)}</td>
      <td className="num">{milliseconds(one.avg_latency_ms)}</td>
      <td className="num">
        <Money value={one.cost_usd} />
      </td>
      <td>
        <Time at={one.created_at} />
      </td>
      <td>{one.created_at ? <Duration from={one.created_at} to={one.finished_at} /> : '–'}</td>
    </tr>
  );
}
