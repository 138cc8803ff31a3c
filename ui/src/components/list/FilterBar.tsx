import { count } from '@/lib/format';
import { SearchBox } from './SearchBox';
import './list.css';

export interface Facet<Value extends string = string> {
  value: Value;
  count: number;
}

export interface Menu {
  /** Its name in the address. */
  key: string;
  label: string;
  /** What it says while it filters nothing. */
  any: string;
  value: string;
  facets: readonly Facet[] | undefined;
  words?: Record<string, string>;
}

interface BarProps<Status extends string> {
  search: { label: string; placeholder: string; value: string };
  menus: readonly Menu[];
  statuses: { all: readonly Status[]; chosen: readonly Status[]; facets: readonly Facet[] };
  filtered: boolean;
  onChange: (changes: Record<string, string | readonly string[] | null>) => void;
  onClear: () => void;
}

/** Search, menus and statuses; all of it is kept in the address. */
export function FilterBar<Status extends string>(props: BarProps<Status>) {
  const { search, menus, statuses, filtered, onChange, onClear } = props;
  return (
    <div className="filters">
      <SearchBox {...search} onChange={(q) => onChange({ q })} />
      {menus.map((menu) => (
        <FacetMenu
          key={menu.key}
          menu={menu}
          onChange={(value) => onChange({ [menu.key]: value })}
        />
      ))}
      <div className="list-chips" role="group" aria-label="Status">
        {statuses.all.map((status) => {
          const found = statuses.facets.find((facet) => facet.value === status)?.count ?? 0;
          const on = statuses.chosen.includes(status);
          if (found === 0 && !on) return null;
          return (
            <button
              key={status}
              type="button"
              className="list-chip"
              aria-pressed={on}
              onClick={() => onChange({ status: toggled(statuses.chosen, status) })}
            >
              {status} <span className="muted">{count(found)}</span>
            </button>
          );
        })}
      </div>
      {filtered && (
        <button type="button" className="btn ghost small" onClick={onClear}>
          Clear
        </button>
      )}
    </div>
  );
}

function toggled<Value>(values: readonly Value[], value: Value): Value[] {
  return values.includes(value) ? values.filter((one) => one !== value) : [...values, value];
}

function FacetMenu({ menu, onChange }: { menu: Menu; onChange: (value: string) => void }) {
  const { label, any, value, facets = [], words = {} } = menu;
  // A single value filters nothing; one that is set has to be seen to be taken away.
  if (facets.length < 2 && value === '') return null;
  const known = facets.some((facet) => facet.value === value);
  return (
    <select
      className="select"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{any}</option>
      {value !== '' && !known && <option value={value}>{words[value] ?? value}</option>}
      {facets.map((facet) => (
        <option key={facet.value} value={facet.value}>
          {`${words[facet.value] ?? facet.value} (${count(facet.count)})`}
        </option>
      ))}
    </select>
  );
}
