/** The search as a pane: it stays while notes are edited, and remembers its query with the layout. */

import { ItemView, Scope, type ViewStateResult, type WorkspaceLeaf } from 'obsidian';
import type { Session } from '../session';
import { carryOut } from './actions';
import { hoverLink } from './hovering';
import { SearchPanel } from './panel';

export const SEARCH_VIEW = 'vaultrag-search';

export class SearchView extends ItemView {
  private readonly panel: SearchPanel;

  constructor(
    leaf: WorkspaceLeaf,
    session: Session,
  ) {
    super(leaf);
    this.icon = 'search';
    this.navigation = false;
    this.panel = new SearchPanel(
      session,
      this.contentEl,
      {
        act: (action, hit, query) => void carryOut(session, action, hit, query),
        onQuery: () => void this.app.workspace.requestSaveLayout(),
        hover: (evt, el, hit) => hoverLink(this.app, SEARCH_VIEW, this.leaf, evt, el, hit.path),
      },
      { preview: false },
    );
    this.scope = new Scope(this.app.scope);
    this.panel.bind(this.scope);
    this.addChild(this.panel);
  }

  getViewType(): string {
    return SEARCH_VIEW;
  }

  getDisplayText(): string {
    return 'Search by meaning';
  }

  override getState(): Record<string, unknown> {
    return { ...super.getState(), query: this.panel.query };
  }

  override async setState(state: unknown, result: ViewStateResult): Promise<void> {
    const query = typeof state === 'object' && state !== null && 'query' in state ? state.query : undefined;
    if (typeof query === 'string') this.panel.setQuery(query);
    await super.setState(state, result);
  }

  focusInput(): void {
    this.panel.input.focus();
    this.panel.input.select();
  }
}
