import type { ReactNode } from 'react';
import { CardHead, List, NameCell } from '@/components/list/List';
import { Change, Money, Score } from '@/components/Numbers';
import { Status } from '@/components/Status';
import { Duration, Time } from '@/components/Time';
import { count, counted, duration } from '@/lib/format';
import {
  bestOf,
  direction,
  nextOrder,
  type RunLine,
  type RunOrder,
  type SortColumn,
} from './filters';
import { Spark } from './Spark';

interface ListProps {
  lines: readonly RunLine[];
  picks: Picks;
  sort: RunOrder;
  onSort: (order: RunOrder) => void;
}

/** The runs that are to be compared. */
export interface Picks {
  chosen: readonly string[];
  onPick: (id: string, picked: boolean) => void;
}

export function RunsList({ lines, picks, ...order }: ListProps) {
  return (
    <List
      lines={lines}
      kind="run"
      idOf={(line) => line.optimization_id}
      pathOf={pathOf}
      table={{ head: <Heads {...order} />, cells: (line) => <Cells line={line} picks={picks} /> }}
      card={(line) => <Card line={line} picks={picks} />}
    />
  );
}

function pathOf(line: RunLine): string {
  return `/runs/${line.optimization_id}`;
}

function Pick({ line, picks }: { line: RunLine; picks: Picks }) {
  const id = line.optimization_id;
  return (
    <input
      type="checkbox"
      aria-label={`Compare ${line.name}`}
      checked={picks.chosen.includes(id)}
      onClick={(event) => event.stopPropagation()}
      onChange={(event) => picks.onPick(id, event.target.checked)}
    />
  );
}

function Heads(order: Omit<ListProps, 'lines' | 'picks'>) {
  return (
    <>
      <th scope="col" className="runs-pick">
        <span className="sr-only">Compare</span>
      </th>
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

function Cells({ line, picks }: { line: RunLine; picks: Picks }) {
  return (
    <>
      <td className="runs-pick" onClick={(event) => event.stopPropagation()}>
        <Pick line={line} picks={picks} />
      </td>
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

function Card({ line, picks }: { line: RunLine; picks: Picks }) {
  return (
    <>
      <CardHead href={pathOf(line)} name={line.name}>
        <span className="row">
          <Status value={line.state} />
          <Pick line={line} picks={picks} />
        </span>
      </CardHead>
      <span className="muted small">
        {line.agent} on {line.suite} · {line.optimizer}
      </span>
      <div className="row between">
        <Best line={line} />
        <Spark points={line.spark} />
      </div>
      <span className="muted small">
        {counted(line.trials, 'trial')} · <Money value={line.cost_usd} /> · <Took line={line} /> ·{' '}
        <Time at={line.created_at} />
      </span>
    </>
  );
}

function Best({ line }: { line: RunLine }) {
  const { change } = line;
  if (line.best_score === null) return <span className="muted">–</span>;
  const { value, where } = bestOf(line);
  return (
    <span className="list-pair" title={`The best, ${where}`}>
      <strong>
        <Score value={value} />
      </strong>
      {change && (
        <span className="small" title={`Against the baseline, ${where}, 95% interval`}>
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
