import {
  flexRender,
  getCoreRowModel,
  useReactTable,
  type Row as TableRow,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useShortcuts } from '@/lib/keys';
import type { Point } from '../points';
import { COLUMN_IDS, COLUMNS, type Row } from './columns';

const ROW = 41;
const PICK = 44;

/** Only the rows in sight are there: ten thousand cost no more than forty. */
export function TrialsGrid({
  rows,
  columns,
  sort,
  best,
  baseline,
  chosen,
  onSort,
  onPick,
  onOpen,
}: {
  rows: readonly Point[];
  columns: readonly string[];
  sort: string;
  best: string | null;
  baseline: number | null;
  chosen: readonly string[];
  onSort(column: string): void;
  onPick(point: Point): void;
  onOpen(point: Point): void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- nothing of it is passed on
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const seen = virtual.getVirtualItems();
  const first = seen[0]?.index ?? 0;
  const end = (seen.at(-1)?.index ?? -1) + 1;
  const data = useMemo(
    () =>
      rows.slice(first, end).map((point, offset): Row => ({
        point,
        index: first + offset,
        baseline,
        best: point.candidate_id === best && point.kind !== 'mini-batch',
      })),
    [rows, first, end, baseline, best],
  );
  const visibility = useMemo(
    () => Object.fromEntries(COLUMN_IDS.map((id) => [id, columns.includes(id)])),
    [columns],
  );
  const table = useReactTable({
    data,
    columns: COLUMNS,
    state: { columnVisibility: visibility },
    getRowId: (row) => row.point.experiment_id,
    getCoreRowModel: getCoreRowModel(),
    manualSorting: true,
    manualFiltering: true,
  });

  // A new order begins at the top.
  const [order, setOrder] = useState({ sort, at: -1 });
  const at = order.sort === sort ? Math.min(order.at, rows.length - 1) : -1;
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [sort]);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setOrder({ sort, at: next });
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  const current = rows[at];
  useShortcuts([
    { keys: 'j', says: 'Next row', act: () => move(at + 1) },
    { keys: 'k', says: 'Row before', act: () => move(at < 0 ? 0 : at - 1) },
    { keys: 'Enter', says: 'Open the row', act: () => current && onOpen(current) },
    { keys: 'x', says: 'Choose the row to compare', act: () => current && onPick(current) },
  ]);

  // Rows are drawn anew only when they change, so what they call has to stay the same.
  const acts = useRef({ onPick, onOpen });
  useEffect(() => {
    acts.current = { onPick, onOpen };
  });
  const pick = useCallback((point: Point) => acts.current.onPick(point), []);
  const show = useCallback((point: Point) => acts.current.onOpen(point), []);

  const widths = table.getVisibleLeafColumns().map((column) => column.columnDef.meta?.width ?? 100);
  const above = seen[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (seen.at(-1)?.end ?? 0);
  return (
    <div
      ref={scroller}
      className="table-wrap trials-scroll"
      tabIndex={0}
      role="region"
      aria-label="Trials; j and k move, Enter opens"
      data-panel="trials"
    >
      <table
        className="table trials-table"
        aria-rowcount={rows.length + 1}
        style={{ minWidth: PICK + widths.reduce((sum, one) => sum + one, 0) }}
      >
        <colgroup>
          <col style={{ width: PICK }} />
          {widths.map((width, index) => (
            <col key={index} style={index === widths.length - 1 ? undefined : { width }} />
          ))}
        </colgroup>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} aria-rowindex={1}>
              <th scope="col">
                <span className="sr-only">Choose to compare</span>
              </th>
              {group.headers.map(({ column }) => (
                <SortableHead
                  key={column.id}
                  id={column.id}
                  label={column.columnDef.meta?.label ?? column.id}
                  number={column.columnDef.meta?.number ?? false}
                  sort={sort}
                  onSort={onSort}
                />
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {above > 0 && <Spacer height={above} />}
          {table.getRowModel().rows.map((row) => {
            const { point, index } = row.original;
            return (
              <TrialRow
                key={row.id}
                row={row}
                columns={columns}
                index={index}
                selected={index === at}
                chosen={chosen.includes(String(point.number))}
                onPick={pick}
                onOpen={show}
              />
            );
          })}
          {below > 0 && <Spacer height={below} />}
        </tbody>
      </table>
    </div>
  );
}

const TrialRow = memo(
  function TrialRow({
    row,
    index,
    selected,
    chosen,
    onPick,
    onOpen,
  }: {
    row: TableRow<Row>;
    columns: readonly string[];
    index: number;
    selected: boolean;
    chosen: boolean;
    onPick(point: Point): void;
    onOpen(point: Point): void;
  }) {
    const { point } = row.original;
    return (
      <tr
        className="link"
        data-row={index}
        data-selected={selected}
        aria-rowindex={index + 2}
        onClick={(event) => {
          if (!(event.target as Element).closest('label')) onOpen(point);
        }}
      >
        <td>
          <label className="trials-pick">
            <input
              type="checkbox"
              checked={chosen}
              onChange={() => onPick(point)}
              aria-label={`Compare trial ${point.number}`}
            />
          </label>
        </td>
        {row.getVisibleCells().map((cell) => (
          <td key={cell.id} className={cell.column.columnDef.meta?.number ? 'num clip' : 'clip'}>
            {flexRender(cell.column.columnDef.cell, cell.getContext())}
          </td>
        ))}
      </tr>
    );
  },
  // The table makes its rows anew at each scroll; what they are about mostly stays.
  (before, after) =>
    before.row.original.point === after.row.original.point &&
    before.row.original.best === after.row.original.best &&
    before.row.original.baseline === after.row.original.baseline &&
    before.columns === after.columns &&
    before.index === after.index &&
    before.selected === after.selected &&
    before.chosen === after.chosen,
);

function Spacer({ height }: { height: number }) {
  return (
    <tr aria-hidden="true">
      <td className="trials-spacer" style={{ height }} />
    </tr>
  );
}

function SortableHead({
  id,
  label,
  number,
  sort,
  onSort,
}: {
  id: string;
  label: string;
  number: boolean;
  sort: string;
  onSort(column: string): void;
}) {
  const direction = sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : undefined;
  return (
    <th scope="col" className={number ? 'num' : undefined} aria-sort={direction ?? 'none'}>
      <button type="button" className="trials-sort" data-sort={id} onClick={() => onSort(id)}>
        {label}
        <span aria-hidden="true" className="trials-arrow">
          {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
        </span>
      </button>
    </th>
  );
}
