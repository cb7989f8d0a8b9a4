package live_test

// podSpec returns the spec of pods that fit no node, so that the test need not wait for them.
func podSpec(g *generator) map[string]any {
	spec := map[string]any{
		"nodeSelector": map[string]any{"example.org/none": "such"},
		"containers":   list(g.some(1, "api", "log", "proxy"), g.container),
	}
	g.with(spec, "initContainers", list(g.some(0, "prepare", "migrate"), g.container))
	g.with(spec, "volumes", list(g.some(0, "config", "run", "keys"), g.volume))
	g.with(spec, "terminationGracePeriodSeconds", g.number(pick(g, 0, 30, 60)))
	g.with(spec, "securityContext", map[string]any{"runAsUser": g.number(42425), "supplementalGroups": []any{int64(1), int64(2)}})
	if g.rarely() {
		spec["tolerations"] = list(g.some(0, "one", "two"), func(key string) any {
			return map[string]any{"key": key, "operator": "Exists"}
		})
	}
	if g.rarely() {
		spec["hostAliases"] = list(g.some(0, "192.0.2.1", "192.0.2.2"), func(ip string) any {
			return map[string]any{"ip": ip, "hostnames": anys(g.some(1, "a", "b"))}
		})
	}
	if g.rarely() {
		spec["topologySpreadConstraints"] = list(g.some(0, "zone", "host"), func(key string) any {
			return map[string]any{
				"maxSkew": g.number(1), "topologyKey": key, "whenUnsatisfiable": pick(g, "ScheduleAnyway", "DoNotSchedule"),
				"labelSelector": map[string]any{"matchLabels": map[string]any{"app": "a"}},
			}
		})
	}
	if g.rarely() {
		spec["imagePullSecrets"] = list(g.some(0, "one", "two"), named)
	}
	if g.rarely() {
		spec["affinity"] = map[string]any{"podAntiAffinity": map[string]any{"preferredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{
			"weight": g.number(100), "podAffinityTerm": map[string]any{"topologyKey": "host", "labelSelector": map[string]any{}},
		}}}}
	}
	return spec
}

func (g *generator) container(name string) any {
	c := map[string]any{"name": name, "image": pick(g, "example.org/keystone:1", "example.org/keystone", "example.org/keystone:2")}
	g.with(c, "command", anys(g.some(1, "run", "-x", "ü")))
	g.with(c, "env", list(g.some(0, "A", "B", "C", "D"), g.variable))
	g.with(c, "ports", list(g.some(0, "http", "metrics", "dns"), func(name string) any {
		port := map[string]any{"name": name}
		port["containerPort"] = g.number(map[string]int{"http": 80, "metrics": 8080, "dns": 53}[name])
		switch {
		case name == "dns":
			port["protocol"] = "UDP"
		case g.maybe():
			port["protocol"] = "TCP"
		}
		return port
	}))
	resources := map[string]any{}
	g.with(resources, "requests", map[string]any{"cpu": pick[any](g, "100m", "0.1", "0.10"), "memory": pick[any](g, "1Mi", "1024Ki", "1e6", int64(1000000))})
	g.with(resources, "limits", map[string]any{"cpu": g.cpu(), "memory": pick[any](g, "1Gi", "1.0Gi", "1024Mi", "1073741824")})
	g.with(c, "resources", resources)
	if name != "prepare" && name != "migrate" {
		g.with(c, "readinessProbe", g.probe())
	}
	security := map[string]any{}
	g.with(security, "capabilities", map[string]any{"drop": []any{"ALL"}, "add": anys(g.some(0, "NET_ADMIN", "SYS_NICE"))})
	g.with(security, "allowPrivilegeEscalation", false)
	g.with(c, "securityContext", security)
	return c
}

func (g *generator) variable(name string) any {
	v := map[string]any{"name": name}
	switch g.IntN(4) {
	case 0:
	case 1:
		v["valueFrom"] = map[string]any{"fieldRef": map[string]any{"fieldPath": pick(g, "metadata.name", "status.podIP")}}
	case 2:
		v["valueFrom"] = map[string]any{"secretKeyRef": map[string]any{"name": "s", "key": pick(g, "a", "b"), "optional": g.maybe()}}
	default:
		v["value"] = g.text()
	}
	return v
}

func (g *generator) probe() map[string]any {
	probe := map[string]any{}
	switch g.IntN(3) {
	case 0:
		probe["httpGet"] = map[string]any{"path": pick(g, "/", "/v3"), "port": g.port()}
	case 1:
		probe["tcpSocket"] = map[string]any{"port": g.port()}
	default:
		probe["exec"] = map[string]any{"command": []any{"true"}}
	}
	g.with(probe, "periodSeconds", g.number(pick(g, 5, 10)))
	g.with(probe, "timeoutSeconds", g.number(1))
	return probe
}

func (g *generator) volume(name string) any {
	v := map[string]any{"name": name}
	switch g.IntN(4) {
	case 0:
		v["emptyDir"] = map[string]any{}
	case 1:
		v["emptyDir"] = map[string]any{"medium": "Memory", "sizeLimit": g.memory()}
	case 2:
		source := map[string]any{"name": pick(g, "c-1", "c-2")}
		g.with(source, "defaultMode", g.number(0o440))
		g.with(source, "items", []any{map[string]any{"key": "a", "path": "a"}})
		v["configMap"] = source
	default:
		v["projected"] = map[string]any{"sources": []any{map[string]any{"secret": map[string]any{"name": pick(g, "s", "t")}}}}
	}
	return v
}

func (g *generator) template(app string) map[string]any {
	metadata := map[string]any{"labels": map[string]any{"app": app}}
	g.with(metadata, "annotations", g.texts("hash", "note"))
	return map[string]any{"metadata": metadata, "spec": podSpec(g)}
}

// app returns the label of a workload's pods. The label is in the workload's selector, which is
// immutable.
func (g *generator) app() string {
	if g.IntN(20) == 0 {
		return "b"
	}
	return "a"
}

func pod(g *generator) map[string]any { return map[string]any{"spec": podSpec(g)} }

func podTemplate(g *generator) map[string]any { return map[string]any{"template": g.template("a")} }

// workload returns the fields that Deployments, StatefulSets and DaemonSets share.
func (g *generator) workload() map[string]any {
	app := g.app()
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": app}},
		"template": g.template(app),
	}
	g.with(spec, "revisionHistoryLimit", g.number(pick(g, 0, 2, 10)))
	g.with(spec, "minReadySeconds", g.number(pick(g, 0, 5)))
	return spec
}

func deployment(g *generator) map[string]any {
	spec := g.workload()
	g.with(spec, "replicas", g.number(g.IntN(3)))
	g.with(spec, "paused", g.maybe())
	if g.maybe() {
		strategy := map[string]any{"type": "RollingUpdate"}
		g.with(strategy, "rollingUpdate", map[string]any{"maxUnavailable": g.intOrPercent(), "maxSurge": pick[any](g, int64(1), "25%")})
		if g.rarely() {
			strategy = map[string]any{"type": "Recreate"}
		}
		spec["strategy"] = strategy
	}
	return map[string]any{"spec": spec}
}

func statefulSet(g *generator) map[string]any {
	spec := g.workload()
	spec["serviceName"] = "db"
	g.with(spec, "replicas", g.number(g.IntN(2)))
	if g.maybe() {
		spec["updateStrategy"] = map[string]any{"type": pick(g, "OnDelete", "RollingUpdate")}
	}
	if g.IntN(20) == 0 {
		spec["podManagementPolicy"] = "Parallel"
	}
	if g.IntN(20) == 0 {
		spec["volumeClaimTemplates"] = []any{map[string]any{
			"metadata": map[string]any{"name": "data"},
			"spec": map[string]any{
				"accessModes": []any{"ReadWriteOnce"},
				"resources":   map[string]any{"requests": map[string]any{"storage": pick(g, "1Gi", "1024Mi")}},
			},
		}}
	}
	return map[string]any{"spec": spec}
}

func daemonSet(g *generator) map[string]any {
	spec := g.workload()
	if g.maybe() {
		strategy := map[string]any{"type": "RollingUpdate"}
		g.with(strategy, "rollingUpdate", map[string]any{"maxUnavailable": pick[any](g, int64(1), "50%")})
		spec["updateStrategy"] = strategy
	}
	return map[string]any{"spec": spec}
}

// job returns a Job that does not run: kolla cannot compare a Job that has run.
func job(g *generator) map[string]any {
	return map[string]any{"spec": g.jobSpec()}
}

func (g *generator) jobSpec() map[string]any {
	template := map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "job", "image": "example.org/job:1"}}}
	if g.rarely() {
		template["restartPolicy"] = "OnFailure"
	}
	spec := map[string]any{"suspend": true, "template": map[string]any{"spec": template}}
	g.with(spec, "backoffLimit", g.number(pick(g, 2, 6)))
	g.with(spec, "ttlSecondsAfterFinished", g.number(pick(g, 60, 600)))
	g.with(spec, "activeDeadlineSeconds", g.number(pick(g, 60, 600)))
	return spec
}

func cronJob(g *generator) map[string]any {
	spec := map[string]any{
		"schedule": pick(g, "0 0 1 1 *", "@yearly"), "suspend": true,
		"jobTemplate": map[string]any{"spec": g.jobSpec()},
	}
	g.with(spec, "concurrencyPolicy", pick(g, "Forbid", "Allow"))
	g.with(spec, "successfulJobsHistoryLimit", g.number(pick(g, 0, 3)))
	g.with(spec, "timeZone", "Etc/UTC")
	return map[string]any{"spec": spec}
}
