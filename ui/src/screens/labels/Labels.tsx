import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { Card } from '@/components/Card';
import { Page } from '@/components/shell/Page';
import { Empty, Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import { useAddress } from '@/lib/address';
import { count } from '@/lib/format';
import { useShortcuts } from '@/lib/keys';
import { rulesWords, useLabelSets } from './data';
import './labels.css';

const NewLabelSet = lazy(() => import('./NewLabelSet'));

/** What people label, and how far they are. */
export default function Labels() {
  const address = useAddress();
  const sets = useLabelSets();
  const begin = () => address.set({ new: '1' });
  useShortcuts([{ keys: 'n', says: 'New label set', act: begin }]);
  return (
    <Page
      title="Labels"
      actions={
        <button type="button" className="btn primary" onClick={begin}>
          New label set
        </button>
      }
    >
      <Card title="Label sets" flush>
        <Loaded query={sets}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="Nobody labels anything yet">
                Make a set of what an evaluation answered, and let people say what is good: judges
                are checked against it, and improved by it.
              </Empty>
            ) : (
              <div className="table-wrap">
                <table className="table">
                  <thead>
                    <tr>
                      <th>Name</th>
                      <th>Label</th>
                      <th className="num">Items</th>
                      <th>People</th>
                      <th>Version</th>
                      <th>Made</th>
                      <th aria-label="Label" />
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((set) => (
                      <tr key={set.label_set_id}>
                        <td>
                          <Link href={`/labels/${encodeURIComponent(set.name)}`}>{set.name}</Link>
                        </td>
                        <td className="small">{rulesWords(set)}</td>
                        <td className="num">{count(set.items)}</td>
                        <td className="small">
                          {set.people
                            .map((one) => `${one.person} ${count(one.labelled)}`)
                            .join(', ') || '–'}
                        </td>
                        <td>{set.last_version || '–'}</td>
                        <td>
                          <Time at={set.created_at} />
                        </td>
                        <td>
                          <Link
                            className="btn small"
                            href={`/labels/${encodeURIComponent(set.name)}/label`}
                            aria-label={`Label ${set.name}`}
                          >
                            Label
                          </Link>
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
      <Suspense>
        {address.get('new') && <NewLabelSet onClose={() => address.set({ new: null })} />}
      </Suspense>
    </Page>
  );
}
