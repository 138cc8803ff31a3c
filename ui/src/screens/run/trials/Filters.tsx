import { useEffect, useRef, useState } from 'react';
import { Segmented } from '@/components/Tabs';
import { SearchInput } from '@/components/list/SearchBox';
import type { useAddress } from '@/lib/address';
import { asKind, KINDS, type View } from './view';
import { COLUMNS, writeColumns } from './columns';

const STATUSES = ['completed', 'running', 'pruned', 'failed', 'cancelled', 'timeout', 'pending'];

/** What is typed, at once in the field and a moment later in the address. */
function useTyped(value: string, write: (text: string) => void): [string, (text: string) => void] {
  const [draft, setDraft] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (text: string) => {
    setDraft(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      write(text);
      setDraft(null);
    }, 120);
  };
  return [draft ?? value, type];
}

export function TrialsFilters({
  address,
  view,
  columns,
  hasMini,
  models,
}: {
  address: ReturnType<typeof useAddress>;
  view: View;
  columns: readonly string[];
  hasMini: boolean;
  /** Whether the run may choose the model, so that its column is a usual one. */
  models: boolean;
}) {
  const [text, setText] = useTyped(view.q, (value) => address.set({ q: value }));
  const [low, setLow] = useTyped(address.get('min'), (value) => address.set({ min: value }));
  const [high, setHigh] = useTyped(address.get('max'), (value) => address.set({ max: value }));
  const narrowed =
    view.q !== '' || view.statuses.length > 0 || view.low !== null || view.high !== null;
  return (
    <div className="filters trials-filters">
      <SearchInput
        className="trials-search"
        label="Search rationales, errors and numbers"
        placeholder="Search reasons, errors, #number"
        value={text}
        onChange={setText}
      />
      {hasMini && (
        <Segmented
          label="Kind"
          options={KINDS}
          chosen={view.kind}
          onChoose={(kind) => address.set({ kind: asKind(kind) === 'full' ? null : kind })}
        />
      )}
      <select
        className="select"
        aria-label="Status"
        value={view.statuses[0] ?? ''}
        onChange={(event) => address.set({ status: event.target.value })}
      >
        <option value="">Any status</option>
        {STATUSES.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <span className="row trials-range">
        <label className="small muted" htmlFor="trials-min">
          Score
        </label>
        <input
          id="trials-min"
          className="input"
          inputMode="decimal"
          placeholder="from"
          aria-label="Score from"
          value={low}
          onChange={(event) => setLow(event.target.value)}
        />
        <input
          className="input"
          inputMode="decimal"
          placeholder="to"
          aria-label="Score to"
          value={high}
          onChange={(event) => setHigh(event.target.value)}
        />
      </span>
      {narrowed && (
        <button
          type="button"
          className="btn small ghost"
          onClick={() => address.set({ q: null, status: null, min: null, max: null })}
        >
          Clear
        </button>
      )}
      <ColumnPicker
        columns={columns}
        onChange={(next) => address.set({ cols: writeColumns(next, models) })}
      />
    </div>
  );
}

function ColumnPicker({
  columns,
  onChange,
}: {
  columns: readonly string[];
  onChange(columns: string[]): void;
}) {
  const element = useRef<HTMLDetailsElement>(null);
  return (
    <details
      ref={element}
      className="trials-picker"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !element.current?.open) return;
        event.preventDefault();
        element.current.open = false;
        element.current.querySelector('summary')?.focus();
      }}
      onBlur={(event) => {
        if (element.current && !element.current.contains(event.relatedTarget))
          element.current.open = false;
      }}
    >
      <summary className="btn small">Columns</summary>
      <fieldset className="trials-menu">
        <legend className="sr-only">Columns shown</legend>
        {COLUMNS.map((column) => {
          const id = column.id ?? '';
          return (
            <label key={id} className="score-toggle small">
              <input
                type="checkbox"
                checked={columns.includes(id)}
                disabled={id === 'number'}
                onChange={(event) =>
                  onChange(
                    COLUMNS.map((one) => one.id ?? '').filter((one) =>
                      one === id ? event.target.checked : columns.includes(one),
                    ),
                  )
                }
              />
              {column.meta?.label}
            </label>
          );
        })}
      </fieldset>
    </details>
  );
}
