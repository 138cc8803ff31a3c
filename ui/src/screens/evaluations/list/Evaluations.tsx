import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { useSearch } from 'wouter';
import { Page } from '@/components/shell/Page';
import { Empty, Failure, Loading } from '@/components/States';
import { useAddress } from '@/lib/address';
import { useShortcuts } from '@/lib/keys';
import { useLines } from '../data';
import { EvaluationsList } from './List';
import { CLEARED, isFiltered, listFilters, matches, rememberList } from './filters';
import { ListFiltersBar } from './FiltersBar';
import { Polling } from '../Polling';
import { isLive } from '../result';
import '../evaluations.css';

const NewEvaluation = lazy(() => import('../new/Dialog'));
const SHOWN = 50;

export default function Evaluations() {
  const address = useAddress();
  const search = useSearch();
  useEffect(() => rememberList(search), [search]);
  const filters = useMemo(() => listFilters(address), [address]);
  const { query, lines } = useLines();
  const [most, setMost] = useState(SHOWN);
  const found = useMemo(() => lines.filter((line) => matches(line, filters)), [lines, filters]);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  // The server knows no filters here, so older ones are read until enough of them match.
  const wantsMore =
    found.length < most && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (wantsMore) void fetchNextPage();
  }, [wantsMore, fetchNextPage]);
  const begin = () => address.set({ new: '1', from: null });
  useShortcuts([{ keys: 'n', says: 'New evaluation', act: begin }]);
  const filtered = isFiltered(filters);
  return (
    <Page
      title="Evaluations"
      badge={
        <Polling
          active={lines.some((line) => isLive(line.status))}
          failing={query.isRefetchError}
        />
      }
      actions={
        <button type="button" className="btn primary" onClick={begin}>
          New evaluation
        </button>
      }
    >
      {(lines.length > 0 || filtered) && (
        <ListFiltersBar filters={filters} lines={lines} onChange={address.set} />
      )}
      {query.data === undefined ? (
        query.error ? (
          <Failure error={query.error} retry={() => void query.refetch()} />
        ) : (
          <Loading lines={8} what="Loading evaluations" />
        )
      ) : found.length > 0 ? (
        <EvaluationsList lines={found.slice(0, most)} />
      ) : hasNextPage && !isFetchNextPageError ? (
        <Loading lines={4} what="Looking through older evaluations" />
      ) : (
        <NoEvaluations filtered={filtered} onClear={() => address.set(CLEARED)} onNew={begin} />
      )}
      {(found.length > most || (hasNextPage && found.length > 0)) && (
        <button
          type="button"
          className="btn evals-more"
          disabled={isFetchingNextPage}
          onClick={() => setMost(most + SHOWN)}
        >
          {isFetchingNextPage ? 'Loading…' : 'Show more evaluations'}
        </button>
      )}
      {address.get('new') === '1' && (
        <Suspense fallback={null}>
          <NewEvaluation
            from={address.get('from')}
            onClose={() => address.set({ new: null, from: null })}
          />
        </Suspense>
      )}
    </Page>
  );
}

function NoEvaluations({
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
        <Empty title="No evaluation matches">
          <p>Nothing has this text and these filters together.</p>
          <button type="button" className="btn" onClick={onClear}>
            Clear the filters
          </button>
        </Empty>
      ) : (
        <Empty title="No evaluations yet">
          <p>
            An evaluation runs one version of an agent on the items of a suite and says how well it
            does. Start one here, or with <code>burnish eval</code> in the project’s folder. Those
            that belong to a run are shown there.
          </p>
          <button type="button" className="btn primary" onClick={onNew}>
            New evaluation
          </button>
        </Empty>
      )}
    </div>
  );
}
