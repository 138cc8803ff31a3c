import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Field } from '@/components/form/Field';
import { FormDialog } from '@/components/form/FormDialog';
import { More } from '@/components/list/Ends';
import { Page } from '@/components/shell/Page';
import { Empty, Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import { count } from '@/lib/format';
import { useShortcuts } from '@/lib/keys';
import { useRows } from '@/lib/rows';
import { useProjects } from './data';
import { nameProblem } from './workbench/form';
import { Picture } from './picture/Picture';
import './images.css';

const pathOf = (project: string) => `/workbench/${encodeURIComponent(project)}`;

export default function Projects() {
  const query = useProjects();
  const [, go] = useLocation();
  const [making, setMaking] = useState(false);
  const projects = query.data?.pages.flatMap((page) => page.items) ?? [];
  const [selected] = useRows(projects.length, (index) => {
    const project = projects[index];
    if (project) go(pathOf(project.project_id));
  });
  const begin = () => setMaking(true);
  useShortcuts([{ keys: 'n', says: 'New project', act: begin }]);
  return (
    <Page
      title="Images"
      actions={
        <button type="button" className="btn primary" onClick={begin}>
          New project
        </button>
      }
    >
      <Loaded query={query} lines={6} what="Loading projects">
        {() =>
          projects.length === 0 ? (
            <NoProjects onNew={begin} />
          ) : (
            <ul className="projects">
              {projects.map((project, index) => (
                <li
                  key={project.project_id}
                  className="card project"
                  data-row={index}
                  data-selected={index === selected}
                >
                  <Link href={pathOf(project.project_id)} className="project-link">
                    <span className="project-picture">
                      <Picture
                        url={project.latest_thumbnail_url}
                        alt={`Newest picture of ${project.project_id}`}
                        lazy
                      />
                    </span>
                    <strong className="project-name">{project.project_id}</strong>
                  </Link>
                  <span className="small muted project-facts">
                    {count(project.commits)} {project.commits === 1 ? 'commit' : 'commits'} · since{' '}
                    <Time at={project.created_at} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {query.hasNextPage && (
        <More
          what="projects"
          busy={query.isFetchingNextPage}
          onMore={() => void query.fetchNextPage()}
        />
      )}
      {making && <NewProject onClose={() => setMaking(false)} />}
    </Page>
  );
}

function NoProjects({ onNew }: { onNew: () => void }) {
  return (
    <div className="card">
      <Empty title="No pictures yet">
        <p>
          A project holds pictures and where each came from. Start one here, or with{' '}
          <code>burnish image run</code> in the project’s folder.
        </p>
        <button type="button" className="btn primary" onClick={onNew}>
          New project
        </button>
      </Empty>
    </div>
  );
}

/** A project begins with its first run: all it needs before is a name. */
function NewProject({ onClose }: { onClose: () => void }) {
  const [, go] = useLocation();
  const [name, setName] = useState('');
  const problem = nameProblem(name);
  return (
    <FormDialog
      id="new-image-project"
      title="New project"
      usable={problem === null}
      submit="Open the workbench"
      onSubmit={() => go(`${pathOf(name.trim())}/eval`)}
      onClose={onClose}
    >
      <Field
        label="Name"
        hint="It is made with its first run."
        problem={name === '' ? null : problem}
      >
        {(given) => (
          <input
            {...given}
            data-autofocus
            className="input"
            autoComplete="off"
            spellCheck={false}
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
