import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Change, Money, Score } from '@/components/Numbers';
import { Status } from '@/components/Status';
import { Duration, Time } from '@/components/Time';
import { count, duration } from '@/lib/format';
import { useRows } from '@/lib/rows';
import { direction, nextOrder, type RunLine, type RunOrder, type SortColumn } from './filters';
import { Spark } from './Spark';
import { useNarrow } from '@/components/list/useNarrow';

interface ListProps {
  lines: readonly RunLine[];
  sort: RunOrder;
  onSort: (order: RunOrder) => void;
}

/** Rows of a table, or cards where a table has no room. */
export function RunsList({ lines, sort, onSort }: ListProps) {
  const [, go] = useLocation();
  const narrow = useNarrow();
  const [selected] = useRows(lines.length, (index) => {
    const line = lines[index];
    if (line) go(pathOf(line));
  });
  if (narrow) return <RunCards lines={lines} selected={selected} />;
  return (
    <div className="card table-wrap">
      <table className="table runs-table">
        <thead>
          <tr>
            <SortHead column="name" sort={sort} onSort={onSort}>
              Run
            </SortHead>
            <th scope="col">Status</th>
            <th scope="col">Optimizer</th>
            <SortHead column="best_score" sort={sort} onSort={onSort} number>
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
            <SortHead column="created_at" sort={sort} onSort={onSort} number>
              Made
            </SortHead>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, index) => (
            <tr
              key={line.optimization_id}
              className="link"
              data-row={index}
              data-run={line.optimization_id}
              data-selected={index === selected}
              onClick={() => go(pathOf(line))}
            >
              <td className="runs-name">
                <Link href={pathOf(line)} onClick={(event) => event.stopPropagation()}>
                  {line.name}
                </Link>
                <span className="muted small clip">
                  {line.agent} on {line.suite}
                </span>
              </td>
              <td>
                <State line={line} />
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
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function pathOf(line: RunLine): string {
  return `/runs/${line.optimization_id}`;
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

function State({ line }: { line: RunLine }) {
  const left = line.status === 'running' && !line.owned;
  return (
    <span className="runs-state">
      <Status value={line.status} />
      {left && <span className="small muted">nobody works on it</span>}
    </span>
  );
}

function Best({ line }: { line: RunLine }) {
  const { change } = line;
  if (line.best_score === null) return <span className="muted">–</span>;
  const where = change?.held_out
    ? `against the baseline on ${count(change.items)} held-out items`
    : 'against the baseline on the items of the search';
  return (
    <span className="runs-best">
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

function RunCards({ lines, selected }: { lines: readonly RunLine[]; selected: number }) {
  return (
    <ul className="runs-cards">
      {lines.map((line, index) => (
        <li
          key={line.optimization_id}
          className="card runs-card"
          data-row={index}
          data-run={line.optimization_id}
          data-selected={index === selected}
        >
          <div className="row between">
            <Link href={pathOf(line)} className="runs-card-link">
              {line.name}
            </Link>
            <State line={line} />
          </div>
          <span className="muted small">
            {line.agent} on {line.suite} · {line.optimizer}
          </span>
          <div className="row between">
            <Best line={line} />
            <Spark points={line.spark} />
          </div>
          <span className="muted small runs-card-foot">
            {count(line.trials)} trials · <Money value={line.cost_usd} /> · <Took line={line} /> ·{' '}
            <Time at={line.created_at} />
          </span>
        </li>
      ))}
    </ul>
  );
}
