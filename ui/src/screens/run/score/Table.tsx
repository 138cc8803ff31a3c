import { useState, type ReactNode } from 'react';
import { count } from '@/lib/format';

export interface TableColumn<Row> {
  name: string;
  number?: boolean;
  cell(row: Row): ReactNode;
}

const PAGE = 50;

/** The numbers behind a chart, a page at a time. */
export function PagedTable<Row>({
  caption,
  rows,
  columns,
  keyOf,
}: {
  caption: string;
  rows: readonly Row[];
  columns: readonly TableColumn<Row>[];
  keyOf(row: Row): string;
}) {
  const [page, setPage] = useState(0);
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  const at = Math.min(page, pages - 1);
  const from = at * PAGE;
  return (
    <>
      <div className="table-wrap" tabIndex={0} role="region" aria-label={caption}>
        <table className="table">
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.name} scope="col" className={column.number ? 'num' : undefined}>
                  {column.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(from, from + PAGE).map((row) => (
              <tr key={keyOf(row)}>
                {columns.map((column) => (
                  <td key={column.name} className={column.number ? 'num' : undefined}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <div className="row between score-pages">
          <span className="small muted">
            {count(from + 1)} to {count(Math.min(rows.length, from + PAGE))} of {count(rows.length)}
          </span>
          <div className="row">
            <button
              type="button"
              className="btn small"
              disabled={at === 0}
              onClick={() => setPage(at - 1)}
            >
              Before
            </button>
            <button
              type="button"
              className="btn small"
              disabled={at === pages - 1}
              onClick={() => setPage(at + 1)}
            >
              Next
            </button>
          </div>
        </div>
      )}
    </>
  );
}
