import { Component, type ReactNode } from 'react';

/** A screen that breaks says so, and the rest goes on. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="page">
        <div className="notice bad" role="alert">
          <div className="stack tight grow">
            <strong>This screen broke: {error.message}</strong>
            <span className="small">
              Nothing is lost on the server. Load the page again; if it breaks again, please report
              it with this message.
            </span>
          </div>
          <button type="button" className="btn small" onClick={() => window.location.reload()}>
            Load again
          </button>
        </div>
      </div>
    );
  }
}
