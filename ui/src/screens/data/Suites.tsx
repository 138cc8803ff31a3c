import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { Card } from '@/components/Card';
import { SearchInput } from '@/components/list/SearchBox';
import { Page } from '@/components/shell/Page';
import { Empty, Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import { count, score } from '@/lib/format';
import { useAddress } from '@/lib/address';
import { useSuites } from '@/api/choices';
import { useDatasets } from './data';
import { scorerParts, splitWords } from './words';
import './data.css';

const Upload = lazy(() => import('./Upload'));
const NewSuite = lazy(() => import('./newSuite/Dialog'));

/** What runs are judged on: suites, and the datasets that they take their items from. */
export default function Suites() {
  const address = useAddress();
  const close = () => address.set({ new: null });
  return (
    <Page
      title="Data"
      actions={
        <>
          <button type="button" className="btn" onClick={() => address.set({ new: 'suite' })}>
            New suite
          </button>
          <button
            type="button"
            className="btn primary"
            onClick={() => address.set({ new: 'dataset' })}
          >
            Upload dataset
          </button>
        </>
      }
    >
      <SuiteList />
      <DatasetList />
      <Suspense>
        {address.get('new') === 'dataset' && <Upload onClose={close} />}
        {address.get('new') === 'suite' && (
          <NewSuite dataset={address.get('dataset')} onClose={close} />
        )}
      </Suspense>
    </Page>
  );
}

function SuiteList() {
  const address = useAddress();
  const suites = useSuites();
  const stored = (useDatasets('').data?.items.length ?? 0) > 0;
  return (
    <Card title="Suites" flush>
      <Loaded query={suites}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No suite yet">
              <p>A suite says which items are run, and what judges the answers.</p>
              <button
                type="button"
                className="btn small"
                onClick={() => address.set({ new: stored ? 'suite' : 'dataset' })}
              >
                {stored ? 'New suite' : 'Upload a dataset for it'}
              </button>
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table table-cards">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>Scorers</th>
                    <th>Split</th>
                    <th className="num">Repeats</th>
                    <th className="num">Passes from</th>
                    <th>Written in</th>
                    <th>Changed</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((suite) => (
                    <tr key={suite.suite_id}>
                      <td data-label="Suite">
                        <Link href={`/suites/${encodeURIComponent(suite.name)}`}>{suite.name}</Link>
                      </td>
                      <td data-label="Scorers">
                        <div className="row">
                          {suite.scorers.map((scorer, index) => (
                            <span key={index} className="badge">
                              {scorerParts(scorer).kind}
                            </span>
                          ))}
                        </div>
                      </td>
                      <td data-label="Split" className="small">
                        {splitWords(suite.split)}
                      </td>
                      <td data-label="Repeats" className="num">
                        {count(suite.repeats)}
                      </td>
                      <td data-label="Passes from" className="num">
                        {score(suite.pass_threshold ?? 1)}
                      </td>
                      <td data-label="Written in" className="small">
                        {suite.source === 'configuration'
                          ? 'burnish.toml'
                          : `version ${suite.version}, ${suite.author || 'unknown'}`}
                      </td>
                      <td data-label="Changed">
                        <Time at={suite.created_at} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}

function DatasetList() {
  const address = useAddress();
  const sought = address.get('q');
  const datasets = useDatasets(sought.trim());
  return (
    <Card
      title="Datasets"
      flush
      actions={
        <SearchInput
          label="Search datasets"
          placeholder="Search datasets"
          value={sought}
          onChange={(q) => address.set({ q })}
        />
      }
    >
      <Loaded query={datasets}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={sought ? 'No dataset is called so' : 'No dataset is stored'}>
              {!sought && 'Upload one, or run an evaluation: its items are stored by themselves.'}
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table table-cards">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th className="num">Items</th>
                    <th>Stored</th>
                    <th>Fingerprint</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((dataset) => (
                    <tr key={dataset.dataset_id}>
                      <td data-label="Dataset">
                        <Link href={`/datasets/${dataset.dataset_id}`}>{dataset.name}</Link>
                      </td>
                      <td data-label="Items" className="num">
                        {count(dataset.items)}
                      </td>
                      <td data-label="Stored">
                        <Time at={dataset.created_at} />
                      </td>
                      <td
                        data-label="Fingerprint"
                        className="mono small"
                        title={dataset.fingerprint}
                      >
                        {dataset.fingerprint.slice(0, 12)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}
