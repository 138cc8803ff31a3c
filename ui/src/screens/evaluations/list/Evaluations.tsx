import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { useSearch } from 'wouter';
import { More, NoLines } from '@/components/list/Ends';
import { FilterBar } from '@/components/list/FilterBar';
import { PollingHint } from '@/components/LiveHint';
import { Page } from '@/components/shell/Page';
import { Loaded, Loading } from '@/components/States';
import { useAddress } from '@/lib/address';
import { useShortcuts } from '@/lib/keys';
import { POLL_MS, useLines } from '../data';
import { isLive } from '../result';
import {
  CLEARED,
  facets,
  isFiltered,
  listFilters,
  matches,
  menusOf,
  rememberList,
  STATUSES,
} from './filters';
import { EvaluationsList } from './List';
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
  const clear = () => address.set(CLEARED);
  const filtered = isFiltered(filters);
  return (
    <Page
      title="Evaluations"
      badge={
        <PollingHint
          every={POLL_MS}
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
        <FilterBar
          search={{
            label: 'Search evaluations',
            placeholder: 'Search name, agent, suite, id…',
            value: filters.q,
          }}
          menus={menusOf(filters, lines)}
          statuses={{
            all: STATUSES,
            chosen: filters.statuses,
            facets: facets(lines.map((line) => line.status)),
          }}
          filtered={filtered}
          onChange={address.set}
          onClear={clear}
        />
      )}
      <Loaded query={query} lines={8} what="Loading evaluations">
        {() =>
          found.length > 0 ? (
            <EvaluationsList lines={found.slice(0, most)} />
          ) : hasNextPage && !isFetchNextPageError ? (
            <Loading lines={4} what="Looking through older evaluations" />
          ) : (
            <NoLines what="evaluation" filtered={filtered} onClear={clear} onNew={begin}>
              An evaluation runs one version of an agent on the items of a suite and says how well
              it does. Start one here, or with <code>burnish eval</code> in the project’s folder.
              Those that belong to a run are shown there.
            </NoLines>
          )
        }
      </Loaded>
      {(found.length > most || (hasNextPage && found.length > 0)) && (
        <More what="evaluations" busy={isFetchingNextPage} onMore={() => setMost(most + SHOWN)} />
      )}
      {address.get('new') === '1' && (
        <Suspense fallback={null}>
          <NewEvaluation
            of={address.get('of')}
            from={address.get('from')}
            onClose={() => address.set({ new: null, from: null })}
          />
        </Suspense>
      )}
    </Page>
  );
}
