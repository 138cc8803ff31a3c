import { useEffect, useEffectEvent, useState } from 'react';
import type { Schemas } from '@/api/client';
import { count } from '@/lib/format';
import { isFiltered, STATUSES, toggled, type RunFilters } from './filters';

type Facets = Schemas['Facets'];
const TYPING_MS = 250;

interface BarProps {
  filters: RunFilters;
  facets: Facets | undefined;
  onChange: (changes: Record<string, string | readonly string[] | null>) => void;
}

/** Search, statuses and menus; all of it is kept in the address. */
export function RunFiltersBar({ filters, facets, onChange }: BarProps) {
  return (
    <div className="filters">
      <SearchBox value={filters.q} onChange={(q) => onChange({ q })} />
      <Menu
        name="Agent"
        value={filters.agent}
        facets={facets?.agents}
        onChange={(agent) => onChange({ agent })}
      />
      <Menu
        name="Optimizer"
        value={filters.optimizer}
        facets={facets?.optimizers}
        onChange={(optimizer) => onChange({ optimizer })}
      />
      <Menu
        name="Suite"
        value={filters.suite}
        facets={facets?.suites}
        onChange={(suite) => onChange({ suite })}
      />
      <div className="runs-statuses" role="group" aria-label="Status">
        {STATUSES.map((status) => {
          const found = facets?.statuses.find((facet) => facet.value === status)?.count ?? 0;
          const on = filters.statuses.includes(status);
          if (found === 0 && !on) return null;
          return (
            <button
              key={status}
              type="button"
              className="runs-chip"
              aria-pressed={on}
              onClick={() => onChange({ status: toggled(filters.statuses, status) })}
            >
              {status} <span className="muted">{count(found)}</span>
            </button>
          );
        })}
      </div>
      {isFiltered(filters) && (
        <button type="button" className="btn ghost small" onClick={() => onChange(CLEARED)}>
          Clear
        </button>
      )}
    </div>
  );
}

export const CLEARED = { q: null, status: null, agent: null, optimizer: null, suite: null };

function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  // The address may change by other means, such as the button that clears it.
  if (value !== known) {
    setKnown(value);
    setText(value);
  }
  const send = useEffectEvent(() => text !== value && onChange(text));
  useEffect(() => {
    const timer = setTimeout(send, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      className="input runs-search"
      type="search"
      data-search
      aria-label="Search runs"
      placeholder="Search name, agent, id…"
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

function Menu({
  name,
  value,
  facets,
  onChange,
}: {
  name: string;
  value: string;
  facets: Facets['agents'] | undefined;
  onChange: (value: string) => void;
}) {
  const options = facets ?? [];
  // A single value filters nothing; one that is set has to be seen to be taken away.
  if (options.length < 2 && value === '') return null;
  const known = options.some((facet) => facet.value === value);
  return (
    <select
      className="select"
      aria-label={name}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{`Any ${name.toLowerCase()}`}</option>
      {value !== '' && !known && <option value={value}>{value}</option>}
      {options.map((facet) => (
        <option key={facet.value} value={facet.value}>
          {`${facet.value} (${count(facet.count)})`}
        </option>
      ))}
    </select>
  );
}
