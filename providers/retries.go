package providers

import "context"

type retryKey struct{}

// ReportingRetries returns a context for requests. tell gets the reason when a request has failed
// and is made again, and an empty text when the request has succeeded after that.
func ReportingRetries(ctx context.Context, tell func(reason string)) context.Context {
	return context.WithValue(ctx, retryKey{}, tell)
}

// ReportRetry tells the context why a request is made again; empty: it has succeeded. It reports
// whether anybody listens.
func ReportRetry(ctx context.Context, reason string) bool {
	tell, ok := ctx.Value(retryKey{}).(func(string))
	if ok {
		tell(reason)
	}
	return ok
}
