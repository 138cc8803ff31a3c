import { count } from '@/lib/format';
import {
  CLEARED,
  facets,
  isFiltered,
  REFINED_WORDS,
  refinedKind,
  STATUSES,
  type Facet,
  type ListFilters,
} from './filters';
import type { EvaluationLine } from '../result';
import { SearchBox } from '@/components/list/SearchBox';

interface BarProps {
  filters: ListFilters;
  lines: readonly EvaluationLine[];
  onChange: (changes: Record<string, string | readonly string[] | null>) => void;
}

/** Search, menus and statuses; all of it is kept in the address. */
export function ListFiltersBar({ filters, lines, onChange }: BarProps) {
  const statuses = facets(lines.map((line) => line.status));
  const chosen = (status: (typeof STATUSES)[number]) => filters.statuses.includes(status);
  return (
    <div className="filters">
      <SearchBox
        label="Search evaluations"
        placeholder="Search name, agent, suite, id…"
        value={filters.q}
        onChange={(q) => onChange({ q })}
      />
      <Menu
        name="Agent"
        any="Any agent"
        value={filters.agent}
        options={facets(lines.map((line) => line.agent))}
        onChange={(agent) => onChange({ agent })}
      />
      <Menu
        name="Suite"
        any="Any suite"
        value={filters.suite}
        options={facets(lines.map((line) => line.suite))}
        onChange={(suite) => onChange({ suite })}
      />
      <Menu
        name="Refinement"
        any="Refined or not"
        value={filters.refined}
        options={facets(lines.map(refinedKind))}
        words={REFINED_WORDS}
        onChange={(refined) => onChange({ refined })}
      />
      <div className="evals-chips" role="group" aria-label="Status">
        {STATUSES.map((status) => {
          const found = statuses.find((facet) => facet.value === status)?.count ?? 0;
          if (found === 0 && !chosen(status)) return null;
          return (
            <button
              key={status}
              type="button"
              className="evals-chip"
              aria-pressed={chosen(status)}
              onClick={() =>
                onChange({
                  status: chosen(status)
                    ? filters.statuses.filter((one) => one !== status)
                    : [...filters.statuses, status],
                })
              }
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

function Menu({
  name,
  any,
  value,
  options,
  words = {},
  onChange,
}: {
  name: string;
  any: string;
  value: string;
  options: readonly Facet[];
  words?: Record<string, string>;
  onChange: (value: string) => void;
}) {
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
      <option value="">{any}</option>
      {value !== '' && !known && <option value={value}>{words[value] ?? value}</option>}
      {options.map((facet) => (
        <option key={facet.value} value={facet.value}>
          {`${words[facet.value] ?? facet.value} (${count(facet.count)})`}
        </option>
      ))}
    </select>
  );
}
