package planner

func (p *planning) impact() []Impact { return nil }
