/** Server-sent events out of a stream of text. Lines may come in pieces. */
export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

export class EventParser {
  private rest = '';
  private id: string | null = null;
  private event = '';
  private data: string[] = [];

  /** The events that this piece completes. */
  push(piece: string): ServerEvent[] {
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    const complete: ServerEvent[] = [];
    for (const line of lines) {
      const event = this.take(line);
      if (event) complete.push(event);
    }
    return complete;
  }

  private take(line: string): ServerEvent | null {
    if (line === '') return this.dispatch();
    if (line.startsWith(':')) return null;
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id' && !value.includes('\0')) this.id = value;
    else if (name === 'event') this.event = value;
    else if (name === 'data') this.data.push(value);
    return null;
  }

  private dispatch(): ServerEvent | null {
    const { event, data } = this;
    this.event = '';
    this.data = [];
    if (data.length === 0) return null;
    return { id: this.id, event: event || 'message', data: data.join('\n') };
  }
}
