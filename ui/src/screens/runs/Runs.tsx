import { lazy, Suspense, useMemo } from 'react';
import { Link } from 'wouter';
import { LiveHint } from '@/components/LiveHint';
import { More, NoLines } from '@/components/list/Ends';
import { FilterBar } from '@/components/list/FilterBar';
import { Page } from '@/components/shell/Page';
import { Loaded } from '@/components/States';
import { useAddress } from '@/lib/address';
import { useShortcuts } from '@/lib/keys';
import { CLEARED, DEFAULT_ORDER, filtersOf, isFiltered, STATUSES } from './filters';
import { idsIn } from './compare/measures';
import { RunsList } from './List';
import { useFacets, useRuns } from './useRuns';
import './runs.css';
import { counted } from '../../lib/format';

const NewRun = lazy(() => import('./new/Dialog'));
const MENUS = [
  { key: 'agent', label: 'Agent', any: 'Any agent' },
  { key: 'optimizer', label: 'Optimizer', any: 'Any optimizer' },
  { key: 'suite', label: 'Suite', any: 'Any suite' },
] as const;

export default function Runs() {
  const address = useAddress();
  const filters = useMemo(() => filtersOf(address), [address]);
  const facets = useFacets().data;
  const { query, lines, mode } = useRuns(filters);
  const begin = () => address.set({ new: '1' });
  const clear = () => address.set(CLEARED);
  useShortcuts([{ keys: 'n', says: 'New run', act: begin }]);
  const filtered = isFiltered(filters);
  const picked = idsIn(address.get('pick'));
  const pick = (id: string, chosen: boolean) => {
    const rest = picked.filter((one) => one !== id);
    address.set({ pick: (chosen ? [...rest, id] : rest).join(',') || null });
  };
  return (
    <Page
      title="Runs"
      badge={<LiveHint mode={mode} />}
      actions={
        <button type="button" className="btn primary" onClick={begin}>
          New run
        </button>
      }
    >
      {(lines.length > 0 || filtered) && (
        <FilterBar
          search={{
            label: 'Search runs',
            placeholder: 'Search name, agent, id…',
            value: filters.q,
          }}
          menus={MENUS.map((menu) => ({
            ...menu,
            value: filters[menu.key],
            facets: facets?.[`${menu.key}s`],
          }))}
          statuses={{ all: STATUSES, chosen: filters.statuses, facets: facets?.statuses ?? [] }}
          filtered={filtered}
          onChange={address.set}
          onClear={clear}
        />
      )}
      {picked.length > 0 && (
        <div className="row runs-picked" role="status">
          <span>
            {picked.length === 1
              ? 'One run is chosen: choose another'
              : `${counted(picked.length, 'run')} are chosen`}
          </span>
          {picked.length > 1 && (
            <Link className="btn small primary" href={`/compare?runs=${picked.join(',')}`}>
              Compare them
            </Link>
          )}
          <button type="button" className="btn small" onClick={() => address.set({ pick: null })}>
            Choose none
          </button>
        </div>
      )}
      <Loaded query={query} lines={8} what="Loading runs">
        {() =>
          lines.length > 0 ? (
            <RunsList
              lines={lines}
              picks={{ chosen: picked, onPick: pick }}
              sort={filters.sort}
              onSort={(order) => address.set({ sort: order === DEFAULT_ORDER ? null : order })}
            />
          ) : (
            <NoLines what="run" filtered={filtered} onClear={clear} onNew={begin}>
              A run searches for a better configuration of an agent and proves it on items that the
              search never saw. Start one here, or with <code>burnish optimize</code> in the
              project's folder.
            </NoLines>
          )
        }
      </Loaded>
      {query.hasNextPage && (
        <More
          what="runs"
          busy={query.isFetchingNextPage}
          onMore={() => void query.fetchNextPage()}
        />
      )}
      {address.get('new') === '1' && (
        <Suspense fallback={null}>
          <NewRun
            agent={address.get('of') || filters.agent}
            suite={filters.suite}
            onClose={() => address.set({ new: null, of: null })}
          />
        </Suspense>
      )}
    </Page>
  );
}
