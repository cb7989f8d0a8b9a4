package providers

import "context"

type retryKey struct{}

// ReportingRetries returns a context for requests. tell gets the reason when a failed request is
// sent again, and an empty string when a repeated request has succeeded.
func ReportingRetries(ctx context.Context, tell func(reason string)) context.Context {
	return context.WithValue(ctx, retryKey{}, tell)
}

// ReportRetry passes the reason why a request is sent again to the context's function, or an empty
// string if the repeated request has succeeded. It reports whether the context has such a function.
func ReportRetry(ctx context.Context, reason string) bool {
	tell, ok := ctx.Value(retryKey{}).(func(string))
	if ok {
		tell(reason)
	}
	return ok
}
