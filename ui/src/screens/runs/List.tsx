import type { ReactNode } from 'react';
import { CardHead, List, NameCell } from '@/components/list/List';
import { Change, Money, Score } from '@/components/Numbers';
import { Status } from '@/components/Status';
import { Duration, Time } from '@/components/Time';
import { count, duration } from '@/lib/format';
import { direction, nextOrder, type RunLine, type RunOrder, type SortColumn } from './filters';
import { Spark } from './Spark';

interface ListProps {
  lines: readonly RunLine[];
  sort: RunOrder;
  onSort: (order: RunOrder) => void;
}

export function RunsList({ lines, ...order }: ListProps) {
  return (
    <List
      lines={lines}
      kind="run"
      idOf={(line) => line.optimization_id}
      pathOf={pathOf}
      table={{ head: <Heads {...order} />, cells: (line) => <Cells line={line} /> }}
      card={(line) => <Card line={line} />}
    />
  );
}

function pathOf(line: RunLine): string {
  return `/runs/${line.optimization_id}`;
}

function Heads(order: Omit<ListProps, 'lines'>) {
  return (
    <>
      <SortHead column="name" {...order}>
        Run
      </SortHead>
      <th scope="col">Status</th>
      <th scope="col">Optimizer</th>
      <SortHead column="best_score" {...order} number>
        Best
      </SortHead>
      <th scope="col">Best so far</th>
      <th scope="col" className="num">
        Trials
      </th>
      <th scope="col" className="num">
        Cost
      </th>
      <th scope="col" className="num">
        Duration
      </th>
      <SortHead column="created_at" {...order} number>
        Made
      </SortHead>
    </>
  );
}

function SortHead({
  column,
  sort,
  onSort,
  number = false,
  children,
}: {
  column: SortColumn;
  sort: RunOrder;
  onSort: (order: RunOrder) => void;
  number?: boolean;
  children: ReactNode;
}) {
  const now = direction(sort, column);
  return (
    <th scope="col" aria-sort={now} className={number ? 'num' : undefined}>
      <button type="button" className="runs-sort" onClick={() => onSort(nextOrder(sort, column))}>
        {children}
        <span aria-hidden="true">{{ ascending: '↑', descending: '↓', none: '' }[now]}</span>
      </button>
    </th>
  );
}

function Cells({ line }: { line: RunLine }) {
  return (
    <>
      <NameCell href={pathOf(line)} name={line.name}>
        {line.agent} on {line.suite}
      </NameCell>
      <td>
        <Status value={line.state} />
      </td>
      <td className="nowrap">{line.optimizer}</td>
      <td className="num">
        <Best line={line} />
      </td>
      <td>
        <Spark points={line.spark} />
      </td>
      <td className="num">{count(line.trials)}</td>
      <td className="num">
        <Money value={line.cost_usd} />
      </td>
      <td className="num">
        <Took line={line} />
      </td>
      <td className="num">
        <Time at={line.created_at} />
      </td>
    </>
  );
}

function Card({ line }: { line: RunLine }) {
  return (
    <>
      <CardHead href={pathOf(line)} name={line.name}>
        <Status value={line.state} />
      </CardHead>
      <span className="muted small">
        {line.agent} on {line.suite} · {line.optimizer}
      </span>
      <div className="row between">
        <Best line={line} />
        <Spark points={line.spark} />
      </div>
      <span className="muted small">
        {count(line.trials)} trials · <Money value={line.cost_usd} /> · <Took line={line} /> ·{' '}
        <Time at={line.created_at} />
      </span>
    </>
  );
}

function Best({ line }: { line: RunLine }) {
  const { change } = line;
  if (line.best_score === null) return <span className="muted">–</span>;
  const where = change?.held_out
    ? `against the baseline on ${count(change.items)} held-out items`
    : 'against the baseline on the items of the search';
  return (
    <span className="list-pair">
      <strong>
        <Score value={line.best_score} />
      </strong>
      {change && (
        <span className="small" title={`${where}, 95% interval`}>
          <Change value={change.delta} low={change.ci_low} high={change.ci_high} />
        </span>
      )}
    </span>
  );
}

function Took({ line }: { line: RunLine }) {
  if (line.status === 'running' && line.owned && line.started_at)
    return <Duration from={line.started_at} to={null} />;
  return <span>{duration(line.duration_seconds)}</span>;
}
