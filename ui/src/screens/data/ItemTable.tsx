import { useMemo } from 'react';
import { Dialog } from '@/components/Dialog';
import { Empty } from '@/components/States';
import { useAddress } from '@/lib/address';
import { useRows } from '@/lib/rows';
import type { Row } from './data';
import { asText, columnsOf } from './words';

/** More columns than these do not fit; the item itself shows all. */
const COLUMNS = 4;

/** Items as rows; one opens with all that it has. `item` in the address is the open one. */
export function ItemTable({
  rows,
  showSplit,
  more,
}: {
  rows: readonly Row[];
  showSplit: boolean;
  more: { has: boolean; busy: boolean; load: () => void };
}) {
  const address = useAddress();
  const open = (row: Row | undefined) => row && address.set({ item: row.item_id });
  const [selected, select] = useRows(rows.length, (index) => open(rows[index]));
  const columns = useMemo(() => columnsOf(rows, COLUMNS), [rows]);
  const shown = rows.find((row) => row.item_id === address.get('item'));
  if (rows.length === 0)
    return (
      <Empty title="No item">None has this in it. Search for less, or choose all splits.</Empty>
    );
  return (
    <>
      <div className="table-wrap">
        <table className="table data-items">
          <thead>
            <tr>
              <th>Item</th>
              {showSplit && <th>Split</th>}
              {columns.map((name) => (
                <th key={name}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr
                key={row.item_id}
                className="link"
                data-row={index}
                data-selected={index === selected}
                onClick={() => {
                  select(index);
                  open(row);
                }}
              >
                <td>
                  <button type="button" className="data-open mono">
                    {row.item_id}
                  </button>
                </td>
                {showSplit && <td>{row.split ?? '–'}</td>}
                {columns.map((name) => (
                  <td key={name}>
                    <div className="data-cell">{asText(row.data[name])}</div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more.has && (
        <div className="card-body">
          <button type="button" className="btn" disabled={more.busy} onClick={more.load}>
            {more.busy ? 'Loading…' : 'Show more'}
          </button>
        </div>
      )}
      {shown && <ItemDialog row={shown} onClose={() => address.set({ item: null })} />}
    </>
  );
}

function ItemDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const fields = Object.entries(row.data);
  return (
    <Dialog title={row.item_id} onClose={onClose} wide>
      <p className="muted small">
        Row {row.position + 1}
        {row.split && `, ${row.split}`}
      </p>
      {fields.map(([name, value]) => (
        <div key={name} className="field">
          <span className="label">{name}</span>
          <pre className="data-value">
            {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
          </pre>
        </div>
      ))}
      {row.origin && (
        <div className="field">
          <span className="label">Where it is from</span>
          <pre className="data-value">{JSON.stringify(row.origin, null, 2)}</pre>
        </div>
      )}
    </Dialog>
  );
}
