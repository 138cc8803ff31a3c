import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useEffectEvent, useRef } from 'react';
import { Change, Score } from '@/components/Numbers';
import { useRows } from '@/lib/rows';
import type { ComparedItem } from '../data';
import { CELL_SIGNS, CELL_WORDS, cellKind } from './matrix';
import { counted } from '../../../lib/format';

const ROW = 58;
const AHEAD = 20;

/** Items as rows, of which only those in view are drawn. */
export function ItemList({
  items,
  total,
  alone,
  titles,
  onOpen,
  onEnd,
}: {
  items: readonly ComparedItem[];
  total: number;
  alone: boolean;
  titles: readonly [string, string];
  onOpen: (itemId: string) => void;
  /** The last row is near. */
  onEnd: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- it draws rows itself, unmemoised
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 8,
    getItemKey: (index) => items[index]?.item_id ?? index,
  });
  const [selected] = useRows(items.length, (index) => {
    const item = items[index];
    if (item) onOpen(item.item_id);
  });
  const show = useEffectEvent((index: number) => virtual.scrollToIndex(index));
  useEffect(() => {
    if (selected < 0) return;
    show(selected);
    // The focus follows, so that Enter opens this row and not the button that was pressed last.
    const frame = requestAnimationFrame(() =>
      box.current
        ?.querySelector<HTMLElement>(`[data-row="${selected}"] button`)
        ?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
  }, [selected]);
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  const near = items.length > 0 && last >= items.length - AHEAD;
  const end = useEffectEvent(onEnd);
  useEffect(() => {
    if (near) end();
  }, [near, items.length]);
  return (
    <div
      className={`candidate-items ${alone ? 'alone' : ''}`}
      ref={box}
      role="table"
      aria-label="Items"
      aria-rowcount={total + 1}
      tabIndex={0}
    >
      <div role="rowgroup" className="candidate-items-head">
        <div role="row" className="candidate-item-row" aria-rowindex={1}>
          <span role="columnheader">{alone ? 'Result' : 'Change'}</span>
          <span role="columnheader">Item</span>
          {!alone && <span role="columnheader">{titles[0]}</span>}
          <span role="columnheader">{titles[1]}</span>
        </div>
      </div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {rows.map((row) => {
          const item = items[row.index];
          if (!item) return null;
          return (
            <div
              key={row.key}
              ref={virtual.measureElement}
              role="row"
              aria-rowindex={row.index + 2}
              className="candidate-item-row candidate-item"
              data-index={row.index}
              data-row={row.index}
              data-selected={row.index === selected}
              data-item={item.item_id}
              style={{ transform: `translateY(${row.start}px)` }}
              onClick={() => onOpen(item.item_id)}
            >
              <Row item={item} alone={alone} onOpen={onOpen} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Row({
  item,
  alone,
  onOpen,
}: {
  item: ComparedItem;
  alone: boolean;
  onOpen: (itemId: string) => void;
}) {
  const kind = cellKind(item);
  return (
    <>
      <span role="cell" className="candidate-change">
        <span className="candidate-key" data-kind={kind} aria-hidden="true">
          {CELL_SIGNS[kind]}
        </span>
        <span className="small">
          {alone ? CELL_WORDS[kind].replace('unchanged, ', '') : item.change}
          {item.change !== 'unchanged' && (
            <>
              <br />
              <Change value={item.delta} />
            </>
          )}
        </span>
      </span>
      <span role="cell" className="candidate-item-name">
        <button
          type="button"
          className="candidate-link"
          onClick={(event) => {
            event.stopPropagation();
            onOpen(item.item_id);
          }}
        >
          {item.item_id}
        </button>
        <span className="muted small candidate-preview">{item.preview}</span>
      </span>
      {!alone && (
        <span role="cell">
          <Side side={item.before} />
        </span>
      )}
      <span role="cell">
        <Side side={item.after} />
      </span>
    </>
  );
}

function Side({ side }: { side: ComparedItem['before'] }) {
  return (
    <span className="candidate-side">
      <span className={`small ${side.passed ? 'good' : 'bad'}`}>
        <Score value={side.score} /> {side.passed ? 'passed' : 'failed'}
        {side.runs > 1 && <span className="muted"> · {counted(side.runs, 'run')}</span>}
      </span>
      <span className={`small mono candidate-preview ${side.error ? 'bad' : ''}`}>
        {side.error ?? (side.output || '(empty)')}
      </span>
    </span>
  );
}
