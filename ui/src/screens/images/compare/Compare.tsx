import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { answer } from '@/api/client';
import { Card, Stat } from '@/components/Card';
import { Page } from '@/components/shell/Page';
import { Empty, Loading } from '@/components/States';
import { useAddress } from '@/lib/address';
import { percent } from '@/lib/format';
import { BeforeAfter } from '../picture/BeforeAfter';
import { images } from '../client';
import { useCommit } from '../data';
import { roleOf } from '../history/history';
import { Picture } from '../picture/Picture';
import { Problem } from '../Problem';
import { RubricTable } from './RubricTable';
import type { Commit, Comparison } from '../types';
import { ZoomDialog } from '../picture/ZoomDialog';
import '../images.css';

/** Two commits: where their pixels differ, and what a judge says of each. */
export default function Compare() {
  const { project = '' } = useParams<{ project: string }>();
  const address = useAddress();
  const left = address.get('left') || null;
  const right = address.get('right') || null;
  const query = useComparison(left, right);
  const leftCommit = useCommit(left);
  const rightCommit = useCommit(right);
  const base = `/workbench/${encodeURIComponent(project)}`;
  const missing = leftCommit.error ?? rightCommit.error ?? query.error;
  return (
    <Page
      title="Compare two commits"
      crumbs={[
        { label: 'Images', to: '/workbench' },
        { label: project, to: base },
      ]}
      actions={
        left &&
        right && (
          <button
            type="button"
            className="btn"
            onClick={() => address.set({ left: right, right: left })}
          >
            Swap
          </button>
        )
      }
    >
      {!left || !right ? (
        <div className="card">
          <Empty title="Which two?">
            <p>Choose a commit in the history, then “Compare with…”, then the other one.</p>
            <Link className="btn" href={base}>
              To the history
            </Link>
          </Empty>
        </div>
      ) : missing ? (
        <Problem
          error={missing}
          retry={() => {
            for (const one of [leftCommit, rightCommit, query]) if (one.error) void one.refetch();
          }}
        />
      ) : leftCommit.data && rightCommit.data ? (
        <Compared left={leftCommit.data} right={rightCommit.data} comparison={query.data} />
      ) : (
        <Loading lines={6} what="Loading the commits" />
      )}
    </Page>
  );
}

/** Made once for two commits, which never change. */
function useComparison(left: string | null, right: string | null) {
  return useQuery({
    queryKey: ['image-comparison', left, right],
    queryFn: ({ signal }): Promise<Comparison> =>
      answer(
        images.POST('/comparisons', {
          body: { left_commit_id: left ?? '', right_commit_id: right ?? '' },
          signal,
        }),
      ),
    enabled: left !== null && right !== null,
    staleTime: Infinity,
  });
}

function Compared({
  left,
  right,
  comparison,
}: {
  left: Commit;
  right: Commit;
  comparison: Comparison | undefined;
}) {
  const [zoomed, setZoomed] = useState<{ title: string; url: string | null } | null>(null);
  const sides = [
    { name: 'Left', commit: left },
    { name: 'Right', commit: right },
  ];
  return (
    <>
      <div className="compare-pictures">
        {sides.map(({ name, commit }) => (
          <Card key={name} title={`${name}: ${roleOf(commit)}`}>
            <Enlarge
              title={`${name}: ${roleOf(commit)}`}
              url={commit.image_url}
              alt={commit.prompt}
              onZoom={setZoomed}
            />
            <p className="small compare-prompt">{commit.prompt}</p>
          </Card>
        ))}
        <Card title="Difference map">
          {comparison ? (
            <>
              <Enlarge
                title="Difference map"
                url={comparison.difference_map.url}
                alt={`Brighter where the pictures differ more: ${percent(comparison.changed_share)} of the pixels`}
                onZoom={setZoomed}
              />
              <p className="small muted compare-prompt">Brighter where they differ more.</p>
            </>
          ) : (
            <Loading lines={4} what="Comparing the pixels" />
          )}
        </Card>
      </div>
      {comparison && (
        <div className="grid-cards">
          <Stat label="Pixels that differ" value={percent(comparison.changed_share, 1)}>
            <span className="muted">visibly</span>
          </Stat>
          <Stat label="Mean difference" value={percent(comparison.mean_difference, 1)}>
            <span className="muted">over all pixels, of the largest possible</span>
          </Stat>
        </div>
      )}
      <div className="two">
        <Card title="Before and after">
          <BeforeAfter
            before={{ url: left.image_url, label: roleOf(left) }}
            after={{ url: right.image_url, label: roleOf(right) }}
          />
        </Card>
        <Card title="Rubric side by side" flush>
          {comparison ? (
            <RubricTable comparison={comparison} />
          ) : (
            <div className="card-body">
              <Loading lines={5} what="Judging both" />
            </div>
          )}
        </Card>
      </div>
      {zoomed && (
        <ZoomDialog
          title={zoomed.title}
          url={zoomed.url}
          alt={zoomed.title}
          onClose={() => setZoomed(null)}
        />
      )}
    </>
  );
}

function Enlarge({
  title,
  url,
  alt,
  onZoom,
}: {
  title: string;
  url: string | null;
  alt: string;
  onZoom: (what: { title: string; url: string | null }) => void;
}) {
  return (
    <button
      type="button"
      className="picture-button"
      aria-label={`Enlarge: ${title}`}
      onClick={() => onZoom({ title, url })}
    >
      <Picture url={url} alt={alt} />
    </button>
  );
}
