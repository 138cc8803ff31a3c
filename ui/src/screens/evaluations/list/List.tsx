import type { ReactNode } from 'react';
import { CardHead, List, NameCell } from '@/components/list/List';
import { Money, Score } from '@/components/Numbers';
import { Status } from '@/components/Status';
import { Duration, Time } from '@/components/Time';
import { count, counted, interval, percent } from '@/lib/format';
import { useEvaluation } from '../data';
import { isLive, resultOf, type EvaluationLine, type EvaluationResult } from '../result';

export function EvaluationsList({ lines }: { lines: readonly EvaluationLine[] }) {
  return (
    <List
      lines={lines}
      kind="evaluation"
      idOf={(line) => line.experiment_id}
      pathOf={pathOf}
      table={{ head: HEADS, cells: (line) => <Cells line={line} /> }}
      card={(line) => <Card line={line} />}
    />
  );
}

const HEADS = (
  <>
    <th scope="col">Evaluation</th>
    <th scope="col">Status</th>
    <th scope="col" className="num">
      Score
    </th>
    <th scope="col" className="num">
      Passed
    </th>
    <th scope="col">Refinement</th>
    <th scope="col" className="num">
      Cost
    </th>
    <th scope="col" className="num">
      Started
    </th>
  </>
);

function pathOf(line: EvaluationLine): string {
  return `/evaluations/${line.experiment_id}`;
}

function Cells({ line }: { line: EvaluationLine }) {
  const { result, waiting } = useResult(line);
  const dash = waiting ? (
    <span className="skeleton evals-wait" />
  ) : (
    <span className="muted">–</span>
  );
  return (
    <>
      <NameCell href={pathOf(line)} name={line.name}>
        <What line={line} />
      </NameCell>
      <td>
        <State line={line} result={result} />
      </td>
      <td className="num">{result ? <Scored result={result} /> : dash}</td>
      <td className="num">{result ? <Passed result={result} /> : dash}</td>
      <td>
        <Refined line={line} result={result} />
      </td>
      <td className="num">{result ? <Money value={result.usage.cost_usd} /> : dash}</td>
      <td className="num evals-when">
        <Time at={line.created_at} />
        <span className="muted small">
          <Took line={line} />
        </span>
      </td>
    </>
  );
}

function Card({ line }: { line: EvaluationLine }) {
  const { result } = useResult(line);
  return (
    <>
      <CardHead href={pathOf(line)} name={line.name}>
        <State line={line} result={result} />
      </CardHead>
      <span className="muted small">
        <What line={line} />
      </span>
      {result && (
        <div className="evals-card-figures">
          <Scored result={result} />
          <Passed result={result} />
          <Refined line={line} result={result} />
        </div>
      )}
      <span className="muted small">
        {result && (
          <>
            <Money value={result.usage.cost_usd} /> ·{' '}
          </>
        )}
        <Time at={line.created_at} /> · <Took line={line} />
      </span>
    </>
  );
}

/** The list itself has no results: each line asks for its own, once it is shown. */
function useResult(line: EvaluationLine): { result: EvaluationResult | null; waiting: boolean } {
  const query = useEvaluation(line.experiment_id, true);
  return { result: resultOf(query.data), waiting: query.isPending };
}

function What({ line }: { line: EvaluationLine }): ReactNode {
  const version = line.agent_version === null ? ', as written,' : ` v${line.agent_version}`;
  return `${line.agent}${version} on ${line.suite}`;
}

function State({ line, result }: { line: EvaluationLine; result: EvaluationResult | null }) {
  return (
    <span className="list-state">
      <Status value={line.status} />
      {isLive(line.status) && line.planned_items !== null && (
        <span className="small muted">
          {`${count(result?.items ?? 0)} of ${counted(line.planned_items, 'item')}`}
        </span>
      )}
    </span>
  );
}

function Scored({ result }: { result: EvaluationResult }) {
  return (
    <span className="list-pair">
      <strong>
        <Score value={result.score} />
      </strong>
      <span className="muted small" title="95% interval">
        {result.score_interval && interval(...result.score_interval)}
      </span>
    </span>
  );
}

function Passed({ result }: { result: EvaluationResult }) {
  return (
    <span className="list-pair">
      <span>{percent(result.pass_rate)}</span>
      <span className="muted small">
        {`${count(result.items - result.failed)} of ${counted(result.items, 'item')}`}
      </span>
    </span>
  );
}

function Refined({ line, result }: { line: EvaluationLine; result: EvaluationResult | null }) {
  if (line.refine === null) return <span className="muted">–</span>;
  if (!line.refine.active)
    return (
      <span className="badge" title={line.refine.why_inactive ?? undefined}>
        inactive
      </span>
    );
  const found = result?.refinement;
  if (!found)
    return <span className="muted small">up to {counted(line.refine.limit, 'round')}</span>;
  return (
    <span className="list-pair left">
      <span>
        <strong>{count(found.fixed)}</strong> of {count(found.refined)} fixed
      </span>
      {found.worsened > 0 && (
        <span className="bad small">{`↓ ${count(found.worsened)} worsened`}</span>
      )}
    </span>
  );
}

function Took({ line }: { line: EvaluationLine }) {
  if (line.status === 'pending') return 'waits';
  return (
    <>
      {line.status === 'running' ? 'for ' : 'took '}
      <Duration from={line.created_at} to={line.status === 'running' ? null : line.updated_at} />
    </>
  );
}
