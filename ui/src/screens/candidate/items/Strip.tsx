import { useRef, useState, type KeyboardEvent } from 'react';
import { count, counted } from '@/lib/format';
import type { ComparedItem } from '../data';
import { CELL_SIGNS, CELL_WORDS, cellKind, moveInGrid, type CellKind } from './matrix';

const ORDER: readonly CellKind[] = ['regressed', 'improved', 'fails', 'passes'];

/** All items at a glance: a cell for each, those that got worse first. */
export function ItemStrip({
  items,
  total,
  alone,
  chosen,
  onOpen,
}: {
  items: readonly ComparedItem[];
  total: number;
  alone: boolean;
  chosen: string;
  onOpen: (itemId: string) => void;
}) {
  const [at, setAt] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const onKey = (event: KeyboardEvent) => {
    const cells = box.current?.querySelectorAll<HTMLButtonElement>('button') ?? [];
    const to = moveInGrid(at, event.key, cells.length, columnsOf(cells));
    if (to === null) return;
    event.preventDefault();
    setAt(to);
    cells[to]?.focus();
  };
  const kinds = items.map(cellKind);
  return (
    <div className="stack tight">
      <div
        className="candidate-strip"
        ref={box}
        role="group"
        aria-label={`${counted(total, 'item')}; arrow keys move between them, Enter opens one`}
        onKeyDown={onKey}
      >
        {items.map((item, index) => (
          <button
            key={item.item_id}
            type="button"
            data-kind={kinds[index]}
            aria-pressed={item.item_id === chosen}
            tabIndex={index === Math.min(at, items.length - 1) ? 0 : -1}
            aria-label={`${item.item_id}: ${CELL_WORDS[kinds[index] as CellKind]}`}
            title={`${CELL_WORDS[kinds[index] as CellKind]}: ${item.preview || item.item_id}`}
            onFocus={() => setAt(index)}
            onClick={() => onOpen(item.item_id)}
          >
            {CELL_SIGNS[kinds[index] as CellKind]}
          </button>
        ))}
      </div>
      <div className="candidate-legend small muted">
        {ORDER.filter((kind) => kinds.includes(kind)).map((kind) => (
          <span key={kind} className="row">
            <span className="candidate-key" data-kind={kind} aria-hidden="true">
              {CELL_SIGNS[kind]}
            </span>
            {alone ? CELL_WORDS[kind].replace('unchanged, ', '') : CELL_WORDS[kind]}
          </span>
        ))}
        {items.length < total && (
          <span>
            the first {count(items.length)} of {count(total)}
          </span>
        )}
      </div>
    </div>
  );
}

/** How many cells stand in a line, from where they are on the page. */
function columnsOf(cells: ArrayLike<HTMLElement>): number {
  const top = cells[0]?.offsetTop;
  let columns = 0;
  while (columns < cells.length && cells[columns]?.offsetTop === top) columns += 1;
  return Math.max(1, columns);
}
