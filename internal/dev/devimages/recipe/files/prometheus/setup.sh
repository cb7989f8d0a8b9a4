install -d /opt/prometheus /etc/prometheus
ln -s /usr/bin/prometheus /usr/bin/promtool /opt/prometheus/
install -d -o prometheus -g prometheus /data
