import { useMemo } from 'react';
import { Link } from 'wouter';
import { Change } from '@/components/Numbers';
import { Status } from '@/components/Status';
import { count, score } from '@/lib/format';
import type { Point, PointSet } from '../points';
import type { Family } from './family';
import { PagedTable, type TableColumn } from '../score/Table';

const named = (number: number) => (number === 0 ? 'Baseline' : `#${number}`);

/** The same lineage in rows. */
export function LineageTable({
  runId,
  set,
  family,
  path,
}: {
  runId: string;
  set: PointSet;
  family: Family;
  path: ReadonlySet<number>;
}) {
  const rows = useMemo(
    () => [...family.points.values()].sort((one, other) => one.number - other.number),
    [family],
  );
  const to = (point: Point) => `/runs/${runId}/candidates/${point.candidate_id}`;
  const columns: TableColumn<Point>[] = [
    { name: 'Candidate', cell: (point) => <Link href={to(point)}>{named(point.number)}</Link> },
    {
      name: 'From',
      cell: (point) =>
        point.parents.length === 0 ? (
          <span className="muted">–</span>
        ) : (
          <span className="row">
            {point.parents.map((number) => {
              const parent = set.byNumber.get(number);
              return parent ? (
                <Link key={number} href={to(parent)}>
                  {named(number)}
                </Link>
              ) : (
                <span key={number}>{named(number)}</span>
              );
            })}
          </span>
        ),
    },
    { name: 'Status', cell: (point) => <Status value={point.status} /> },
    { name: 'Score', number: true, cell: (point) => score(point.score) },
    {
      name: 'Change to parent',
      number: true,
      cell: (point) => {
        const parent = set.byNumber.get(point.parents[0] ?? -1);
        return (
          <Change
            value={
              point.score === null || parent?.score == null || parent.kind === 'mini-batch'
                ? null
                : point.score - parent.score
            }
          />
        );
      },
    },
    {
      name: 'Children',
      number: true,
      cell: (point) => count(family.children.get(point.number)?.length ?? 0),
    },
    {
      name: 'Way to the best',
      cell: (point) => (path.has(point.number) ? <span className="badge accent">yes</span> : ''),
    },
    { name: 'Why', cell: (point) => <span className="muted">{point.rationale}</span> },
  ];
  return (
    <PagedTable
      caption="Lineage of the candidates"
      rows={rows}
      columns={columns}
      keyOf={(point) => point.candidate_id}
    />
  );
}
