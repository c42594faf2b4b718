/** Gives the page the helpers that the app adds to it, before any test is read. */

import { setup } from 'obsidian-test-mocks/setup';

setup();
// jsdom draws nothing, so it scrolls nothing.
if (!('scrollIntoView' in Element.prototype)) {
  Object.defineProperty(Element.prototype, 'scrollIntoView', { value: () => undefined, writable: true });
}
