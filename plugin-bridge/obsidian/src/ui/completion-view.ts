/** The small list under the query that completes `tag:` and `path:`. */

import { complete, completionAt, type Completion } from '../state/completion';

export class CompletionView {
  private current: Completion | null = null;
  private index = 0;

  constructor(
    private readonly el: HTMLElement,
    private readonly input: HTMLInputElement,
    private readonly accepted: () => void,
  ) {
    el.addClass('is-empty');
  }

  get isOpen(): boolean {
    return this.current !== null;
  }

  update(known: { tags: readonly string[]; folders: readonly string[] }): void {
    const { value, selectionStart } = this.input;
    this.current = completionAt(value, selectionStart ?? value.length, known);
    this.index = 0;
    this.draw();
  }

  close(): void {
    this.current = null;
    this.draw();
  }

  move(by: number): void {
    const count = this.current?.options.length ?? 0;
    if (count) this.index = (this.index + by + count) % count;
    this.draw();
  }

  accept(index = this.index): void {
    const option = this.current?.options[index];
    if (!this.current || option === undefined) return;
    const { query, cursor } = complete(this.input.value, this.current, option);
    this.input.value = query;
    this.input.setSelectionRange(cursor, cursor);
    this.close();
    this.accepted();
  }

  private draw(): void {
    const { current } = this;
    this.el.empty();
    this.el.toggleClass('is-empty', current === null);
    current?.options.forEach((option, index) => {
      const row = this.el.createDiv({ cls: 'suggestion-item', text: option, attr: { role: 'option' } });
      row.toggleClass('is-selected', index === this.index);
      // Before the input loses its focus.
      row.addEventListener('mousedown', (evt) => {
        evt.preventDefault();
        this.accept(index);
      });
    });
  }
}
