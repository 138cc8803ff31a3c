import { arrange, type LayoutRequest } from './layout';

// Beside the page: it stays usable while hundreds of nodes are arranged.
self.onmessage = (event: MessageEvent<LayoutRequest>) => self.postMessage(arrange(event.data));
