import { lazy, Suspense, useMemo } from 'react';
import { LiveHint } from '@/components/LiveHint';
import { Page } from '@/components/shell/Page';
import { Empty, Failure, Loading } from '@/components/States';
import { useAddress } from '@/lib/address';
import { useShortcuts } from '@/lib/keys';
import { DEFAULT_ORDER, filtersOf, isFiltered } from './filters';
import { CLEARED, RunFiltersBar } from './FiltersBar';
import { RunsList } from './List';
import { useFacets, useRuns } from './useRuns';
import './runs.css';

const NewRun = lazy(() => import('./new/Dialog'));

export default function Runs() {
  const address = useAddress();
  const filters = useMemo(() => filtersOf(address), [address]);
  const facets = useFacets();
  const { query, lines, mode } = useRuns(filters);
  const begin = () => address.set({ new: '1' });
  useShortcuts([{ keys: 'n', says: 'New run', act: begin }]);
  const some = lines.length > 0 || isFiltered(filters);
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
      {some && <RunFiltersBar filters={filters} facets={facets.data} onChange={address.set} />}
      {query.data === undefined ? (
        query.error ? (
          <Failure error={query.error} retry={() => void query.refetch()} />
        ) : (
          <Loading lines={8} what="Loading runs" />
        )
      ) : lines.length > 0 ? (
        <RunsList
          lines={lines}
          sort={filters.sort}
          onSort={(order) => address.set({ sort: order === DEFAULT_ORDER ? null : order })}
        />
      ) : (
        <NoRuns filtered={isFiltered(filters)} onClear={() => address.set(CLEARED)} onNew={begin} />
      )}
      {query.hasNextPage && (
        <button
          type="button"
          className="btn runs-more"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {query.isFetchingNextPage ? 'Loading…' : 'Show more runs'}
        </button>
      )}
      {address.get('new') === '1' && (
        <Suspense fallback={null}>
          <NewRun onClose={() => address.set({ new: null })} />
        </Suspense>
      )}
    </Page>
  );
}

function NoRuns({
  filtered,
  onClear,
  onNew,
}: {
  filtered: boolean;
  onClear: () => void;
  onNew: () => void;
}) {
  return (
    <div className="card">
      {filtered ? (
        <Empty title="No run matches">
          <p>Nothing has this text and these filters together.</p>
          <button type="button" className="btn" onClick={onClear}>
            Clear the filters
          </button>
        </Empty>
      ) : (
        <Empty title="No runs yet">
          <p>
            A run searches for a better configuration of an agent and proves it on items that the
            search never saw. Start one here, or with <code>burnish optimize</code> in the project's
            folder.
          </p>
          <button type="button" className="btn primary" onClick={onNew}>
            New run
          </button>
        </Empty>
      )}
    </div>
  );
}
