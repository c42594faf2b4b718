/**
 * Only the newest question counts. Asking again aborts the question before it, and whoever still waits for the older one
 * gets the newest answer: a list that is drawn from a late promise is never older than what was typed last.
 */

export class Latest<T> {
  private waiting: Array<{ resolve: (value: T) => void; reject: (error: unknown) => void }> = [];
  private controller: AbortController | null = null;

  ask(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    const promise = new Promise<T>((resolve, reject) => this.waiting.push({ resolve, reject }));
    run(controller.signal).then(
      (value) => this.settle(controller, (waiter) => waiter.resolve(value)),
      (error: unknown) => this.settle(controller, (waiter) => waiter.reject(error)),
    );
    return promise;
  }

  /** Give up the question under way; those who wait for it are told so by its failure. */
  cancel(error: unknown): void {
    this.controller?.abort();
    this.controller = null;
    for (const waiter of this.waiting.splice(0)) waiter.reject(error);
  }

  private settle(controller: AbortController, tell: (waiter: (typeof this.waiting)[number]) => void): void {
    if (this.controller !== controller) return;
    this.controller = null;
    for (const waiter of this.waiting.splice(0)) tell(waiter);
  }
}
