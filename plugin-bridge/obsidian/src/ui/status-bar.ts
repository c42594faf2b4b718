/** The state of the search in the status bar; a click tries again and says what helps. */

import { Component } from 'obsidian';
import type { Session } from '../session';
import { statusText } from '../state/status-text';

export class StatusBar extends Component {
  constructor(
    private readonly session: Session,
    private readonly el: HTMLElement,
    private readonly clicked: () => void,
  ) {
    super();
    el.addClass('mod-clickable', 'vaultrag-status');
  }

  override onload(): void {
    const { connection } = this.session;
    this.register(connection.onState(() => this.draw()));
    this.register(connection.onStatus(() => this.draw()));
    this.registerDomEvent(this.el, 'click', () => this.clicked());
    this.draw();
  }

  private draw(): void {
    const { connection, vaultId } = this.session;
    const { kind, text, tooltip } = statusText(connection.state, connection.status, vaultId);
    this.el.setText(text);
    this.el.dataset.kind = kind;
    this.el.setAttribute('aria-label', tooltip);
    this.el.setAttribute('data-tooltip-position', 'top');
  }
}
