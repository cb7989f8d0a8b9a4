package providers

// Health says whether a workload is ready.
type Health struct {
	Ready  bool
	Reason string   // why it is not ready, in one line
	Detail []string // further facts
}
