import { Time } from '@/components/Time';
import { score, shortId } from '@/lib/format';
import { roleOf, type History } from './history';
import { Picture } from '../picture/Picture';

/** The same history in rows, the newest first. */
export function CommitTable({
  history,
  current,
  onCurrent,
  onRun,
}: {
  history: History;
  current: string | null;
  onCurrent: (id: string) => void;
  onRun: (id: string) => void;
}) {
  return (
    <div className="table-wrap commit-table">
      <table className="table">
        <caption className="sr-only">Commits of the project</caption>
        <thead>
          <tr>
            <th scope="col">Commit</th>
            <th scope="col">Made from</th>
            <th scope="col" className="num">
              Score
            </th>
            <th scope="col">Prompt</th>
            <th scope="col">When</th>
            <th scope="col">
              <span className="sr-only">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...history.commits.values()].map((commit) => (
            <tr
              key={commit.commit_id}
              className="link"
              data-selected={commit.commit_id === current}
              onClick={() => onCurrent(commit.commit_id)}
            >
              <td>
                <span className="commit-cell">
                  <span className="commit-thumb">
                    <Picture url={commit.thumbnail_url} alt="" missing="✕" lazy />
                  </span>
                  <button
                    type="button"
                    className="btn ghost small"
                    onClick={(event) => {
                      event.stopPropagation();
                      onCurrent(commit.commit_id);
                    }}
                  >
                    {roleOf(commit)} <code>{shortId(commit.commit_id)}</code>
                  </button>
                </span>
              </td>
              <td className="nowrap">
                {commit.parent_commit_id ? <code>{shortId(commit.parent_commit_id)}</code> : '–'}
              </td>
              <td className="num">{score(commit.score)}</td>
              <td className="commit-words">{commit.error ?? commit.prompt}</td>
              <td>
                <Time at={commit.created_at} />
              </td>
              <td>
                {commit.can_be_parent && (
                  <button
                    type="button"
                    className="btn small"
                    onClick={(event) => {
                      event.stopPropagation();
                      onRun(commit.commit_id);
                    }}
                  >
                    Run eval
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
